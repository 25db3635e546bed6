#include "agent/workload_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "agent/google_token.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<std::optional<WorkloadProbe>> Read(const std::string& probe) {
  return ReadWorkloadProbe(*ParseJson(StrCat(R"({"readinessProbe": )", probe, "}")));
}

TEST(WorkloadProbe, IsReadWithIstiosDefaults) {
  const auto http = Read(R"({"httpGet": {"port": 8080, "path": "ready", "scheme": "HTTPS", "host": "web",
                             "httpHeaders": [{"name": "X-A", "value": "b"}]},
                             "initialDelaySeconds": 5, "periodSeconds": 3, "timeoutSeconds": 2,
                             "successThreshold": 4, "failureThreshold": 6})");
  ASSERT_TRUE(http.ok() && *http) << http.status();
  EXPECT_EQ((*http)->probe.path, "/ready");
  EXPECT_TRUE((*http)->probe.tls);
  EXPECT_EQ((*http)->host, "web");
  EXPECT_EQ((*http)->headers.at("x-a"), "b");
  EXPECT_EQ((*http)->initial_delay, seconds(5));
  EXPECT_EQ((*http)->period, seconds(3));
  EXPECT_EQ((*http)->probe.timeout, seconds(2));
  EXPECT_EQ((*http)->success_threshold, 4);
  EXPECT_EQ((*http)->failure_threshold, 6);
  const auto tcp = Read(R"({"tcpSocket": {"port": 90}})");
  ASSERT_TRUE(tcp.ok() && *tcp);
  EXPECT_EQ((*tcp)->probe.kind, AppProbe::kTcp);
  EXPECT_EQ((*tcp)->period, seconds(10));
  EXPECT_EQ((*tcp)->probe.timeout, seconds(1));
  EXPECT_EQ((*tcp)->failure_threshold, 1);
  const auto grpc = Read(R"({"grpc": {"port": 90, "service": "s"}})");
  ASSERT_TRUE(grpc.ok() && *grpc);
  EXPECT_EQ((*grpc)->probe.service, "s");
  const auto exec = Read(R"({"exec": {"command": ["test", "-e", "/"]}})");
  ASSERT_TRUE(exec.ok() && *exec);
  EXPECT_THAT((*exec)->command, ElementsAre("test", "-e", "/"));
}

TEST(WorkloadProbe, MistakesNameTheField) {
  EXPECT_THAT(Read(R"({"httpGet": {"path": "/"}})").status().ToString(), HasSubstr("httpGet.port"));
  EXPECT_THAT(Read(R"({"tcpSocket": {"port": 70000}})").status().ToString(), HasSubstr("tcpSocket.port"));
  EXPECT_THAT(Read(R"({"exec": {"command": []}})").status().ToString(), HasSubstr("exec.command"));
  EXPECT_THAT(Read(R"({"periodSeconds": 1})").status().ToString(), HasSubstr("one of httpGet"));
  const auto none = ReadWorkloadProbe(json::object());
  EXPECT_TRUE(none.ok() && !*none);
}

TEST(HealthThresholds, ChangesAreToldOnceTheirThresholdIsReached) {
  HealthThresholds thresholds(2, 3);
  const absl::Status good, bad = absl::UnavailableError("down");
  EXPECT_FALSE(thresholds.Add(good));
  EXPECT_TRUE(thresholds.Add(good));
  EXPECT_FALSE(thresholds.Add(good));
  EXPECT_FALSE(thresholds.Add(bad));
  EXPECT_FALSE(thresholds.Add(bad));
  EXPECT_FALSE(thresholds.Add(good)) << "not in a row";
  EXPECT_FALSE(thresholds.Add(bad));
  EXPECT_FALSE(thresholds.Add(bad));
  EXPECT_EQ(thresholds.Add(bad)->message(), "down");
  EXPECT_FALSE(thresholds.Add(bad));
  EXPECT_FALSE(thresholds.Add(good));
  EXPECT_TRUE(thresholds.Add(good)->ok());
}

absl::Status Try(const WorkloadProbe& probe) {
  const std::atomic<bool> stopping{false};
  return TryWorkload(probe, {.host = "127.0.0.1", .local_address = "", .status_port = 0}, stopping);
}

TEST(TryWorkload, AsksTheApplication) {
  httplib::Server server;
  std::string agent, header;
  server.Get("/ready", [&](const httplib::Request& request, httplib::Response& response) {
    agent = request.get_header_value("user-agent");
    header = request.get_header_value("x-a");
    response.status = request.has_header("x-fail") ? 503 : 200;
  });
  WorkloadProbe probe;
  probe.probe.port = server.bind_to_any_port("127.0.0.1");
  probe.probe.path = "/ready";
  probe.headers = {{"x-a", "b"}};
  std::thread thread([&server] { server.listen_after_bind(); });
  EXPECT_TRUE(Try(probe).ok());
  EXPECT_EQ(agent, "istio-probe/1.0");
  EXPECT_EQ(header, "b");
  probe.headers["x-fail"] = "1";
  EXPECT_THAT(Try(probe).ToString(), HasSubstr("/ready: status 503"));
  probe.probe.kind = AppProbe::kTcp;
  EXPECT_TRUE(Try(probe).ok());
  server.stop();
  thread.join();
  EXPECT_FALSE(Try(probe).ok());
}

TEST(TryWorkload, RunsAProgramWithinItsTime) {
  WorkloadProbe probe;
  probe.command = {"sh", "-c", "exit 0"};
  EXPECT_TRUE(Try(probe).ok());
  probe.command = {"sh", "-c", "exit 3"};
  EXPECT_FALSE(Try(probe).ok());
  probe.command = {"sleep", "30"};
  probe.probe.timeout = milliseconds(200);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Try(probe)));
  probe.command = {"/no/such/program"};
  EXPECT_FALSE(Try(probe).ok());
}

// Google's metadata server is asked for the machine's token, and again once it nears its end.
class GoogleTokenTest : public testing::Test {
 protected:
  static std::string Token(int64_t end) {
    // {"exp":END} in base64, of a length without padding.
    std::string claims = StrCat(R"({"exp":)", end, "}");
    while (claims.size() % 3 != 0) claims += ' ';
    static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string text;
    for (size_t i = 0; i < claims.size(); i += 3) {
      const uint32_t bits = static_cast<uint32_t>(claims[i]) << 16 |
                            static_cast<uint32_t>(claims[i + 1]) << 8 | static_cast<uint32_t>(claims[i + 2]);
      for (const int shift : {18, 12, 6, 0}) text += kDigits[bits >> shift & 63];
    }
    return StrCat("e30.", text, ".c2ln");
  }
  const std::string folder_ = StrCat("/tmp/google-token-", getpid());
  ~GoogleTokenTest() override { std::system(("rm -rf " + folder_).c_str()); }
};

TEST_F(GoogleTokenTest, IsFetchedAndRefreshed) {
  std::vector<MetadataQuestion> asked;
  std::optional<std::string> answer = Token(10'000);
  GoogleToken token("http://server", "mesh", folder_ + "/tokens/istio-token",
                    [&](const MetadataQuestion& one) {
                      asked.push_back(one);
                      return answer;
                    });
  EXPECT_TRUE(token.Refresh(1'000).ok());
  ASSERT_EQ(asked.size(), 1);
  EXPECT_EQ(asked[0].url,
            "http://server/computeMetadata/v1/instance/service-accounts/default/"
            "identity?audience=mesh&format=full");
  EXPECT_THAT(asked[0].headers, ElementsAre("Metadata-Flavor: Google"));
  EXPECT_TRUE(token.Refresh(8'000).ok());
  EXPECT_EQ(asked.size(), 1) << "it holds for more than 25 minutes";
  answer = std::nullopt;
  EXPECT_TRUE(absl::IsUnavailable(token.Refresh(9'000)));
  answer = Token(20'000);
  EXPECT_TRUE(token.Refresh(9'000).ok());
  std::string text;
  std::getline(std::ifstream(folder_ + "/tokens/istio-token"), text);
  EXPECT_EQ(text, *answer);
  EXPECT_EQ(EndOfToken(text), 20'000);
  EXPECT_EQ(EndOfToken("no token"), 0);
}

}  // namespace
}  // namespace fairlead::agent
