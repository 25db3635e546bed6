#include "gateway_api/status/proxy_verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::gateway_api {
namespace {

using config::Kind;
using Json = nlohmann::ordered_json;

config::ConfigPtr Object(Kind kind, const std::string& name) {
  config::ObjectMeta meta;
  meta.ns = "shop";
  meta.name = name;
  return std::make_shared<config::ConfigObject>(kind, meta, config::Origin{}, nullptr, 1);
}

config::Diagnostic About(const config::ConfigPtr& object, const std::string& code) {
  config::Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.object = KeyOf(*object);
  diagnostic.message = "proxies reject it";
  diagnostic.details = "by 1 proxy";
  return diagnostic;
}

TEST(ProxyVerdicts, AreConditionsWhereStatusesHaveThem) {
  const config::ConfigPtr route = Object(Kind::kHttpRoute, "route"),
                          filter = Object(Kind::kEnvoyFilter, "filter"),
                          ingress = Object(Kind::kIngress, "ingress"),
                          gateway = Object(Kind::kKubernetesGateway, "edge");
  config::ObjectStore objects;
  std::vector<config::ObjectChange> changes;
  for (const auto& one : {route, filter, ingress, gateway}) changes.push_back({KeyOf(*one), one});
  objects.Apply(changes);
  std::vector<StatusOf> statuses = {
      {route, Json::parse(R"({"parents": [{"conditions": [{"type": "Accepted"}]}, {"conditions": []}]})")},
      {gateway, Json::parse(R"({"conditions": [{"type": "Accepted"}]})")}};
  const config::Diagnostic gone = About(Object(Kind::kEnvoyFilter, "gone"), "bad");
  AddProxyVerdicts({About(route, "bad"), About(filter, "bad"), About(ingress, "bad"), About(gateway, "bad"),
                    About(gateway, "other"), gone},
                   {{"bad", "AcceptedByProxies", "Rejected"}}, objects, &statuses);
  const Json condition = Json::parse(R"({"type": "AcceptedByProxies", "status": "False", "reason": "Rejected",
                                         "message": "proxies reject it; by 1 proxy"})");
  ASSERT_EQ(statuses.size(), 3u);
  EXPECT_EQ(statuses[0].status["parents"][0]["conditions"][1], condition);
  EXPECT_EQ(statuses[0].status["parents"][1]["conditions"][0], condition);
  EXPECT_EQ(statuses[1].status["conditions"].size(), 2u);
  EXPECT_EQ(statuses[1].status["conditions"][1], condition);
  EXPECT_EQ(statuses[2].object, filter);
  EXPECT_EQ(statuses[2].status["conditions"][0], condition);
}

}  // namespace
}  // namespace fairlead::gateway_api
