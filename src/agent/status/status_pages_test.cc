#include "agent/status/status_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"

namespace fairlead::agent {
namespace {

using server::HttpRequest;
using server::HttpResponse;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string WhyNoProbes(std::string_view text) {
  return std::string(ParseAppProbes(text).status().message());
}

TEST(ParseAppProbes, ReadsWhatTheInjectionWrites) {
  const auto probes = ParseAppProbes(
      R"({"/app-health/web/readyz": {"httpGet": {"path": "ready", "port": 8443, "scheme": "HTTPS"}, "timeoutSeconds": 3},
          "/app-health/web/livez": {"tcpSocket": {"port": 80}},
          "/app-lifecycle/web/prestopz": {"grpc": {"port": 90, "service": "s"}}})");
  ASSERT_TRUE(probes.ok()) << probes.status();
  const AppProbe ready = probes->at("/app-health/web/readyz");
  EXPECT_EQ(ready.path, "/ready");
  EXPECT_TRUE(ready.tls);
  EXPECT_EQ(ready.timeout, std::chrono::seconds(3));
  EXPECT_EQ(probes->at("/app-health/web/livez").kind, AppProbe::kTcp);
  EXPECT_EQ(probes->at("/app-lifecycle/web/prestopz").service, "s");
  EXPECT_TRUE(ParseAppProbes("")->empty());
}

TEST(ParseAppProbes, MistakesNameTheirPath) {
  EXPECT_EQ(WhyNoProbes("["), "ISTIO_KUBE_APP_PROBERS: not a JSON object");
  EXPECT_THAT(WhyNoProbes(R"({"/healthz": {"tcpSocket": {"port": 80}}})"),
              HasSubstr("/healthz: no path of a probe"));
  EXPECT_THAT(WhyNoProbes(R"({"/app-health/a/livez": {"tcpSocket": {"port": "http"}}})"),
              HasSubstr("the port is no number"));
  EXPECT_THAT(WhyNoProbes(R"({"/app-health/a/livez": {"tcpSocket": {"port": 1}, "grpc": {"port": 1}}})"),
              HasSubstr("one of httpGet, tcpSocket and grpc"));
}

TEST(ParseScrapeTargets, AnnotationsSayWhichPages) {
  const auto targets = [](std::string_view text) {
    std::vector<std::string> found;
    const auto parsed = ParseScrapeTargets(text, 15020);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    if (!parsed.ok()) return found;
    for (const ScrapeTarget& one : *parsed) found.push_back(StrCat(one.port, one.path));
    return found;
  };
  EXPECT_THAT(targets(""), ElementsAre());
  EXPECT_THAT(targets(R"({"scrape": "false", "port": "9"})"), ElementsAre());
  EXPECT_THAT(targets(R"({"scrape": "true"})"), ElementsAre("80/metrics"));
  EXPECT_THAT(targets(R"({"targets": [{"port": "9102", "path": "m"}, {"port": "9103"}]})"),
              ElementsAre("9102/m", "9103/metrics"));
  EXPECT_THAT(std::string(ParseScrapeTargets(R"({"port": "15090"})", 15020).status().message()),
              HasSubstr("port 15090 is the mesh's own"));
  EXPECT_FALSE(ParseScrapeTargets(R"({"port": "http"})", 15020).ok());
}

TEST(NarrowAccept, KeepsWhatCanBeMerged) {
  const std::vector<std::string_view> app = {"text/*", "text/plain", "application/openmetrics-text"};
  EXPECT_EQ(
      NarrowAccept("application/vnd.google.protobuf;q=0.7,application/openmetrics-text;version=1.0.0;q=0.6,"
                   "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                   app),
      "application/openmetrics-text;version=1.0.0;q=0.2,text/plain;version=0.0.4;q=0.1");
  EXPECT_EQ(NarrowAccept("", app), "text/plain;version=0.0.4");
  EXPECT_EQ(NarrowAccept("application/json", app), "text/plain;version=0.0.4");
}

class MergedMetricsTest : public testing::Test {
 protected:
  HttpResponse Page(std::vector<ScrapeTarget> targets, const HttpRequest& request = {}) {
    return MergedMetrics(15090, std::move(targets),
                         [this](const std::string& url, const std::vector<std::string>& headers,
                                std::chrono::milliseconds limit) -> absl::StatusOr<ScrapedPage> {
                           limit_ = limit;
                           asked_.push_back(StrCat(url, " ", headers.front()));
                           const auto page = pages_.find(url);
                           if (page == pages_.end()) return absl::UnavailableError("nobody listens");
                           return page->second;
                         })
        .Page(request);
  }
  std::map<std::string, ScrapedPage> pages_ = {
      {"http://localhost:15090/stats/prometheus", {"envoy_a 1\n", "text/plain"}},
      {"http://localhost:9000/metrics",
       {"app_a 1\n# EOF\n", "application/openmetrics-text; version=1.0.0; charset=utf-8"}},
      {"http://localhost:9001/metrics", {"app_b 1", "text/plain; version=0.0.4"}}};
  std::vector<std::string> asked_;
  std::chrono::milliseconds limit_{};
};

TEST_F(MergedMetricsTest, TheFormIsTheApplicationsAndItsEndComesLast) {
  const HttpResponse page = Page({{9000, "/metrics"}});
  EXPECT_EQ(page.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_THAT(page.body, testing::EndsWith("envoy_a 1\napp_a 1\n# EOF\n"));
}

TEST_F(MergedMetricsTest, PagesOfTwoFormsAreText) {
  const HttpResponse page = Page({{9000, "/metrics"}, {9001, "/metrics"}});
  EXPECT_EQ(page.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(page.body, testing::EndsWith("app_a 1\napp_b 1\n"));
  EXPECT_THAT(page.body, Not(HasSubstr("# EOF")));
}

TEST_F(MergedMetricsTest, WhatFailsIsLeftOutAndCounted) {
  const HttpResponse page = Page({{9, "/metrics"}});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("envoy_a 1\n"));
  EXPECT_THAT(Page({}).body, HasSubstr("istio_agent_scrape_failures_total{type=\"application\"}"));
}

TEST_F(MergedMetricsTest, TheAskersTimeAndQuestionGoOn) {
  HttpRequest request;
  request.headers = {{"x-prometheus-scrape-timeout-seconds", "1.5"}, {"accept", "*/*"}};
  request.query = {{"filter", "^a b"}, {"usedonly", ""}};
  Page({}, request);
  EXPECT_THAT(asked_, ElementsAre("http://localhost:15090/stats/prometheus?filter=%5Ea%20b&usedonly "
                                  "Accept: text/plain;version=0.0.4;q=0.1"));
  EXPECT_LE(limit_, std::chrono::milliseconds(1'500));
  EXPECT_GT(limit_, std::chrono::milliseconds(500));
}

// An application, and the agent's port before it.
class StatusPagesTest : public testing::Test {
 protected:
  StatusPagesTest() {
    app_.Get("/ready", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(StrCat(request.get_header_value("Host"), " ", request.get_header_value("X-Probe"),
                                  " ", request.remote_addr),
                           "text/plain");
    });
    app_.Get("/broken", [](const httplib::Request&, httplib::Response& response) { response.status = 503; });
    app_.Get("/here", [](const httplib::Request&, httplib::Response& r) { r.set_redirect("/broken"); });
    app_.Get("/there", [](const httplib::Request&, httplib::Response& r) {
      r.set_redirect("http://elsewhere.example/x");
    });
    app_.Get("/circle", [](const httplib::Request&, httplib::Response& r) { r.set_redirect("circle"); });
    app_.Get("/long", [](const httplib::Request&, httplib::Response& r) {
      r.set_content(std::string(100'000, 'x'), "text/plain");
    });
    app_.Get("/slow", [](const httplib::Request&, httplib::Response&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
    });
    port_ = app_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { app_.listen_after_bind(); });
    while (!app_.is_running()) std::this_thread::yield();
  }
  ~StatusPagesTest() override {
    server_.Stop();
    app_.stop();
    thread_.join();
  }
  httplib::Client Start() {
    Options options;
    options.instance_ip = "127.0.0.1";
    std::string probes;
    for (const char* name : {"ready", "broken", "here", "there", "circle", "long", "slow"})
      StrAppend(&probes, probes.empty() ? "" : ",", "\"/app-health/", name,
                "/livez\":{\"httpGet\":{\"path\":\"/", name, "\",\"port\":", port_,
                "},\"timeoutSeconds\":1}");
    StrAppend(&probes, R"(,"/app-health/tcp/livez":{"tcpSocket":{"port":)", port_, "}}");
    StrAppend(&probes, R"(,"/app-health/nobody/livez":{"tcpSocket":{"port":1}})");
    StrAppend(&probes, R"(,"/app-health/grpc/livez":{"grpc":{"port":1}})");
    options.app_probers = StrCat("{", probes, "}");
    const auto pages = StatusPages::Make(options, {[this] { ++quits_; },
                                                   [this] {
                                                     ++drains_;
                                                     return absl::OkStatus();
                                                   }});
    EXPECT_TRUE(pages.ok()) << pages.status();
    StatusPages::AddTo(&server_, *pages);
    EXPECT_TRUE(server_.Start("127.0.0.1:0").ok());
    return httplib::Client("127.0.0.1", server_.port());
  }

  httplib::Server app_;
  server::HttpServer server_;
  int port_ = 0, quits_ = 0, drains_ = 0;
  std::thread thread_;
};

TEST_F(StatusPagesTest, TheApplicationIsProbedAsKubeletWould) {
  httplib::Client client = Start();
  const auto status = [&client](const std::string& name) {
    const auto answer = client.Get(StrCat("/app-health/", name, "/livez"));
    return answer ? answer->status : 0;
  };
  const auto ready = client.Get("/app-health/ready/livez", {{"Host", "web:15020"}, {"X-Probe", "yes"}});
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->status, 200);
  EXPECT_EQ(ready->body, StrCat("web:", port_, " yes 127.0.0.6")) << "redirection leaves that address alone";
  EXPECT_EQ(status("broken"), 503);
  EXPECT_EQ(status("here"), 503) << "a redirect to the same host is followed";
  EXPECT_EQ(status("there"), 200) << "one to another host is a success";
  EXPECT_EQ(status("circle"), 500);
  EXPECT_EQ(status("slow"), 500);
  EXPECT_EQ(status("tcp"), 200);
  EXPECT_EQ(status("nobody"), 500);
  EXPECT_EQ(status("grpc"), 500);
  EXPECT_EQ(status("unknown"), 400);
  const auto whole = client.Get("/app-health/long/livez");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->status, 200);
  EXPECT_LE(whole->body.size(), 10'240u);
}

TEST_F(StatusPagesTest, ItsEndIsAskedForByPost) {
  httplib::Client client = Start();
  EXPECT_EQ(client.Get("/quitquitquit")->status, 405);
  EXPECT_EQ(quits_, 0);
  EXPECT_EQ(client.Post("/quitquitquit")->body, "OK");
  EXPECT_EQ(client.Post("/drain")->body, "OK");
  EXPECT_EQ(quits_, 1);
  EXPECT_EQ(drains_, 1);
  EXPECT_EQ(client.Get("/metrics")->status, 200);
}

}  // namespace
}  // namespace fairlead::agent
