#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <nlohmann/json.hpp>

#include "app/server_fixture.h"
#include "base/log_output.h"
#include "jwks/key_server_fake.h"

// The keys of tokens on their way from a key server to a proxy.
namespace fairlead::app {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Keys : public ServerTest {
 protected:
  Keys() { options_.environment.key_refresh = std::chrono::milliseconds(20); }

  void WriteRule(const std::string& uri) {
    Write("jwt.yaml",
          StrCat("{apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: r, "
                 "namespace: shop}, spec: {jwtRules: [{issuer: me, jwksUri: '",
                 uri, "'}]}}"));
  }
  // The listeners of the client, as soon as their version is another than `version`, which becomes theirs.
  std::string Listeners(std::string* version) {
    httplib::Client client("127.0.0.1", server_->http_port());
    client.set_read_timeout(60);
    const json request = {{"node", {{"id", kClientNode}}}, {"versionInfo", *version}};
    const httplib::Headers headers = {{"x-envoy-expected-rq-timeout-ms", "60000"}};
    const auto answer = client.Post("/v3/discovery:listeners", headers, request.dump(), "application/json");
    EXPECT_TRUE(answer && answer->status == 200);
    if (!answer || answer->status != 200) return "";
    *version = json::parse(answer->body)["versionInfo"];
    return answer->body;
  }

  jwks::FakeKeyServer key_server_;
};

TEST_F(Keys, AreThereWhenTheServerIsAndFollowTheirServer) {
  key_server_.Answer("/keys", R"({"keys": [{"kid": "first"}]})");
  WriteRule(key_server_.Url("/keys"));
  StartServer();
  std::string version;
  EXPECT_THAT(Listeners(&version), HasSubstr("first"));
  key_server_.Answer("/keys", R"({"keys": [{"kid": "second"}]})");
  const std::string rotated = Listeners(&version);
  EXPECT_THAT(rotated, HasSubstr("second"));
  EXPECT_THAT(rotated, Not(HasSubstr("first")));
}

// Whoever may write a RequestAuthentication may not have the server ask its own pages, by no name or
// redirect.
TEST_F(Keys, AreNotFetchedFromTheServerItself) {
  const std::string log = folder_ + ".log";
  ASSERT_TRUE(SetLogOutput({.targets = {log}}).ok());
  StartServer();
  const std::string own = StrCat(":", server_->http_port(), "/version");
  key_server_.Redirect("/away", "http://0.0.0.0" + own);
  for (const std::string& uri : {"http://127.0.0.1" + own, "http://localhost" + own, key_server_.Url("/away"),
                                 StrCat("http://127.0.0.1:", server_->grpc_port(), "/")}) {
    WriteRule(uri);
    const std::string wanted = StrCat("the keys of ", uri, " cannot be fetched: nothing may be fetched from");
    std::string logged;
    for (int i = 0; i < 1000 && logged.find(wanted) == std::string::npos; ++i) {
      usleep(10'000);
      FlushLogs();
      std::ifstream in(log);
      logged.assign(std::istreambuf_iterator<char>(in), {});
    }
    EXPECT_THAT(logged, HasSubstr(wanted));
  }
  server_.reset();
  EXPECT_TRUE(SetLogOutput({}).ok());
  std::filesystem::remove(log);
}

TEST_F(Keys, AKeyServerThatFailsDoesNotKeepTheServerFromServing) {
  WriteRule(key_server_.Url("/none"));
  StartServer();
  std::string version;
  const std::string listeners = Listeners(&version);
  EXPECT_THAT(listeners, HasSubstr("jwt_authn"));
  EXPECT_THAT(listeners, HasSubstr("\\\"kty\\\": \\\"RSA\\\"")) << "keys that verify nothing";
}

}  // namespace
}  // namespace fairlead::app
