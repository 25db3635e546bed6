#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "app/server_fixture.h"
#include "xds/services.h"

// xDS over REST, by a real HTTP client.
namespace fairlead::app {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using xds::TypeId;

constexpr char kReviews[] = "outbound|9080||reviews.shop.svc.cluster.local";

class Rest : public ServerTest {
 protected:
  explicit Rest(size_t connections = 512) {
    options_.environment.http_connections = connections;
    StartServer();
  }
  json Request(std::vector<std::string> names = {}, const std::string& version = "") {
    return {{"node", {{"id", kClientNode}}}, {"resourceNames", names}, {"versionInfo", version}};
  }
  httplib::Result Post(const std::string& path, const std::string& body, int patience_ms = 20000) {
    httplib::Client client("127.0.0.1", server_->http_port());
    client.set_read_timeout(20);
    const httplib::Headers headers = {{"x-envoy-expected-rq-timeout-ms", std::to_string(patience_ms)}};
    return client.Post(path, headers, body, "application/json");
  }
  json Get(const std::string& path, const json& request) {
    const auto answer = Post(path, request.dump());
    EXPECT_TRUE(answer);
    EXPECT_EQ(answer->status, 200) << answer->body;
    EXPECT_EQ(answer->get_header_value("Content-Type"), "application/json");
    return json::parse(answer->body);
  }
};

TEST_F(Rest, EachTypeHasAPath) {
  const std::map<std::string, std::vector<std::string>> asked = {
      {"clusters", {}}, {"endpoints", {kReviews}}, {"listeners", {}}, {"routes", {"9080"}}};
  for (const auto& [name, names] : asked) {
    const json response = Get("/v3/discovery:" + name, Request(names));
    ASSERT_GT(response["resources"].size(), 0u) << name;
    EXPECT_EQ(response["resources"][0]["@type"], response["typeUrl"]);
    EXPECT_FALSE(response["versionInfo"].get<std::string>().empty());
  }
  const json listeners = Get("/v3/discovery:listeners", Request());
  EXPECT_THAT(listeners.dump(), HasSubstr("http_connection_manager.v3.HttpConnectionManager\""))
      << "what is inside of an Any is JSON, too";
}

TEST_F(Rest, APollIsHeldUntilSomethingChanges) {
  const json before = Get("/v3/discovery:routes", Request({"9080"}));
  std::thread edit([this] { WriteRoute("7s"); });
  const json after = Get("/v3/discovery:routes", Request({"9080"}, before["versionInfo"]));
  edit.join();
  EXPECT_NE(after["versionInfo"], before["versionInfo"]);
  EXPECT_THAT(after.dump(), HasSubstr("\"timeout\":\"7s\""));
}

TEST_F(Rest, WithoutAChangeTheClientsPatienceEndsIn304) {
  const json before = Get("/v3/discovery:clusters", Request());
  const auto same = Post("/v3/discovery:clusters", Request({}, before["versionInfo"]).dump(), 200);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->status, 304);
  EXPECT_EQ(same->body, "");
}

TEST_F(Rest, WhatDoesNotExistIsAnEmptyAnswerWithAVersion) {
  const json response = Get("/v3/discovery:endpoints", Request({"outbound|1||nowhere.example.com"}));
  ASSERT_EQ(response["resources"].size(), 1u) << "a cluster that has no endpoints";
  EXPECT_FALSE(response["resources"][0].contains("endpoints"));
  EXPECT_FALSE(response["versionInfo"].get<std::string>().empty());
}

TEST_F(Rest, ErrorsAreStatusInJson) {
  const auto failure = [&](const std::string& path, const std::string& body) {
    const auto answer = Post(path, body);
    EXPECT_TRUE(answer);
    const json status = json::parse(answer->body);
    return StrCat(answer->status, " ", status["code"].get<int>(), " ", status["message"].get<std::string>());
  };
  EXPECT_THAT(failure("/v3/discovery:clusters", "{"), HasSubstr("400 3 "));
  EXPECT_THAT(failure("/v3/discovery:clusters", "{}"), HasSubstr("400 3 missing node information"));
  EXPECT_THAT(failure("/v3/discovery:clusters", R"({"node": {"id": "me"}})"), HasSubstr("400 3 "));
  EXPECT_THAT(failure("/v3/discovery:endpoints", Request().dump()), HasSubstr("by name"));
  json foreign = Request();
  foreign["typeUrl"] = Url(TypeId::kListener);
  EXPECT_THAT(failure("/v3/discovery:clusters", foreign.dump()), HasSubstr("400 3 "));
  foreign["typeUrl"] = "type.googleapis.com/envoy.api.v2.Cluster";
  EXPECT_THAT(failure("/v3/discovery:clusters", foreign.dump()), HasSubstr("xDS v2 is not served"));
  EXPECT_THAT(failure("/v2/discovery:clusters", Request().dump()), HasSubstr("501 12 xDS v2 is not served"));
  EXPECT_THAT(failure("/v3/discovery:scoped-routes", Request().dump()), HasSubstr("501 12 "));
}

TEST_F(Rest, WhoHasProvenNothingGetsNoSecrets) {
  const auto answer = Post("/v3/discovery:secrets", Request({"kubernetes://s"}).dump());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_TRUE(json::parse(answer->body).value("resources", json::array()).empty());
}

TEST_F(Rest, WhatComesToNoHandlerIsAStatusInJsonToo) {
  httplib::Client client("127.0.0.1", server_->http_port());
  const auto other_method = client.Get("/v3/discovery:clusters");
  ASSERT_TRUE(other_method);
  EXPECT_EQ(other_method->status, 405);
  EXPECT_EQ(json::parse(other_method->body)["code"], 12);
  const auto large = Post("/v3/discovery:clusters", std::string(5 << 20, ' '));
  ASSERT_TRUE(large);
  EXPECT_EQ(large->status, 413);
  EXPECT_EQ(json::parse(large->body)["code"], 8);
  const auto elsewhere = client.Get("/nowhere");
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->status, 404);
  EXPECT_EQ(elsewhere->body, "");
}

// Who is held is answered at once when the server ends: not when its patience does, which would be a 304.
TEST_F(Rest, PollsAreNotHeldBeyondTheEndOfTheServer) {
  const json before = Get("/v3/discovery:clusters", Request());
  httplib::Client client("127.0.0.1", server_->http_port());
  client.set_read_timeout(120);  // longer than any poll is held
  std::thread poll([&] {
    const auto answer =
        client.Post("/v3/discovery:clusters", Request({}, before["versionInfo"]).dump(), "application/json");
    EXPECT_TRUE(!answer || answer->status == 503) << "answered, or the connection was closed";
  });
  httplib::Client observer("127.0.0.1", server_->http_port());
  while (json::parse(observer.Get("/debug/connections")->body)["totalClients"] != 1)
    std::this_thread::yield();
  server_->Stop();
  poll.join();
}

// Has sockets with a poll each, that nobody reads from.
class ManyPolls {
 public:
  ManyPolls(int port, const std::string& body, int count) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string request = StrCat(
        "POST /v3/discovery:clusters HTTP/1.1\r\nHost: x\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
    for (int i = 0; i < count; ++i) {
      sockets_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(connect(sockets_.back(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
      EXPECT_EQ(send(sockets_.back(), request.data(), request.size(), 0), ssize_t(request.size()));
    }
  }
  ~ManyPolls() {
    for (const int socket : sockets_) close(socket);
  }

 private:
  std::vector<int> sockets_;
};

class FewConnections : public Rest {
 protected:
  FewConnections() : Rest(8) {}
};

TEST_F(FewConnections, ProbesAreAnsweredWhateverThePolls) {
  const std::string held = Request({}, Get("/v3/discovery:clusters", Request())["versionInfo"]).dump();
  const ManyPolls polls(server_->http_port(), held, 40);
  httplib::Client probe("127.0.0.1", server_->http_port());
  probe.set_read_timeout(20);  // polls are held for 30 s
  const auto ready = probe.Get("/ready");
  ASSERT_TRUE(ready) << to_string(ready.error());
  EXPECT_EQ(ready->status, 200);
}

TEST_F(FewConnections, PollsBeyondTheMostAreToldWhenToComeAgain) {
  const std::string held = Request({}, Get("/v3/discovery:clusters", Request())["versionInfo"]).dump();
  const ManyPolls polls(server_->http_port(), held, 6);
  // Until the six have come, and another one with this.
  const auto ask = [&] {
    const ManyPolls seventh(server_->http_port(), held, 1);
    return Post("/v3/discovery:clusters", held, 200);
  };
  auto answer = ask();
  while (answer && answer->status == 304) answer = ask();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->get_header_value("Retry-After"), "1");
  EXPECT_EQ(json::parse(answer->body)["code"], 14);
}

}  // namespace
}  // namespace fairlead::app
