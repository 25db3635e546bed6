#include "simulate/command/live_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::simulate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Lines(const std::string& page, const std::set<std::string>& proxies) {
  const auto lines = LiveState("http://localhost:15014/", proxies,
                               [&](const std::string& url) -> absl::StatusOr<std::string> {
                                 EXPECT_EQ(url, "http://localhost:15014/debug/rejectz");
                                 return page;
                               });
  EXPECT_TRUE(lines.ok()) << lines.status();
  return lines.ok() ? *lines : std::vector<std::string>();
}

constexpr char kPage[] = R"([{"proxy": "web.shop", "type": "LDS", "resources": [
    {"name": "virtualInbound", "since": "2026-01-02T03:04:05Z", "reason": "bad", "running": "older",
     "changed": [{"kind": "EnvoyFilter", "namespace": "shop", "name": "limit", "file": "a.yaml", "line": 3}],
     "notInForce": [{"kind": "AuthorizationPolicy", "namespace": "shop", "name": "deny-all"},
                    {"kind": "AuthorizationPolicy", "namespace": "shop", "name": "old", "gone": true}]},
    {"name": "x", "since": "S", "reason": "", "running": "nothing"},
    {"name": "y", "since": "S", "reason": "", "running": "unknown"}]}])";

TEST(LiveStateTest, SaysWhatProxiesRunInstead) {
  EXPECT_THAT(
      Lines(kPage, {"web.shop", "client.shop"}),
      ElementsAre("web.shop runs an older listener virtualInbound since 2026-01-02T03:04:05Z, as it rejects "
                  "the newest: bad; what changed: EnvoyFilter shop/limit (a.yaml:3)",
                  "AuthorizationPolicy shop/deny-all is not in force at web.shop",
                  "AuthorizationPolicy shop/old is gone, but still in force at web.shop",
                  "web.shop runs no listener x since S, as it rejects the newest: ",
                  "web.shop may run an older listener y since S, as it rejects the newest: "));
  EXPECT_THAT(Lines(kPage, {"client.shop"}), IsEmpty());
  EXPECT_THAT(Lines("[]", {"web.shop"}), IsEmpty());
  EXPECT_THAT(Lines(R"([3, {"proxy": "web.shop", "resources": [1, {"changed": [2], "notInForce": [4]}]}])",
                    {"web.shop"})
                  .size(),
              3u)
      << "whatever a server says is read without harm";
}

TEST(LiveStateTest, AnotherPageIsAnError) {
  const auto ask = [](const std::string&) -> absl::StatusOr<std::string> { return "not found"; };
  EXPECT_FALSE(LiveState("http://localhost", {"a.b"}, ask).ok());
}

}  // namespace
}  // namespace fairlead::simulate
