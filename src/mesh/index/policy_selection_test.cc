#include "mesh/index/policy_selection.h"

#include <gmock/gmock.h>

#include "istio/extensions/v1alpha1/wasm.pb.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"
#include "istio/networking/v1beta1/proxy_config.pb.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"
#include "mesh/index/policy_index.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::mesh {
namespace {

using config::Kind;
using istio::networking::v1alpha3::EnvoyFilter;
using istio::security::v1beta1::AuthorizationPolicy;
using istio::telemetry::v1alpha1::Telemetry;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kWeb[] = "selector { match_labels { key: 'app' value: 'web' } }";
constexpr char kGatewayRef[] = "group: 'gateway.networking.k8s.io' kind: 'Gateway' name: 'g'";

class PolicySelectionTest : public MeshFixture {
 protected:
  template <typename Spec>
  void PutText(Kind kind, std::string_view ns, std::string_view name, const std::string& text, int age = 0) {
    Put(kind, ns, name, Parse<Spec>(text), age);
  }
  void PutAuthorization(std::string_view ns, std::string_view name, const std::string& text, int age = 0) {
    PutText<AuthorizationPolicy>(Kind::kAuthorizationPolicy, ns, name, text, age);
  }
  // As "namespace/name".
  std::vector<std::string> Select(Kind kind, const PolicySubject& subject) {
    std::vector<std::string> names;
    for (const config::ConfigPtr& policy : Build()->policies->Select(kind, subject)) {
      names.push_back(StrCat(policy->ns().str(), "/", policy->name().str()));
    }
    return names;
  }
  std::vector<std::string> Select(Kind kind, std::string_view ns, const LabelMap& labels) {
    return Select(kind, PolicySubject{ns, labels});
  }
  std::vector<std::string> Keys(Kind kind, std::string_view ns, bool waypoint = false) {
    const LabelMap none;
    const auto policies = Build()->policies;
    return PolicyLabelKeys(kind, policies->PartsFor(kind, {ns, none, waypoint}), waypoint);
  }
  const LabelMap none_, web_{{"app", "web"}, {"version", "v1"}};
  const LabelMap gateway_{{std::string(kGatewayNameLabel), "g"}, {"app", "web"}};
};

TEST_F(PolicySelectionTest, AttachedPoliciesOfRootAndOwnNamespaceOldestFirst) {
  PutAuthorization("shop", "all", "");
  PutAuthorization("shop", "web", kWeb, 5);
  PutAuthorization("shop", "db", "selector { match_labels { key: 'app' value: 'db' } }");
  PutAuthorization("istio-system", "mesh", "");
  PutAuthorization("istio-system", "mesh-web", kWeb);
  PutAuthorization("other", "all", "");
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, "shop", none_),
              ElementsAre("istio-system/mesh", "shop/all"));
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, "shop", web_),
              ElementsAre("istio-system/mesh", "istio-system/mesh-web", "shop/web", "shop/all"));
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, "istio-system", web_),
              ElementsAre("istio-system/mesh", "istio-system/mesh-web"));
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, "empty", none_), ElementsAre("istio-system/mesh"));
}

TEST_F(PolicySelectionTest, ASelectorNeedsAllOfItsLabels) {
  PutAuthorization("shop", "both",
                   "selector { match_labels { key: 'app' value: 'web' } match_labels { "
                   "key: 'version' value: 'v1' } }");
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, "shop", web_), ElementsAre("shop/both"));
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, "shop", {{"app", "web"}}), IsEmpty());
}

// Who gets a policy: a workload of no gateway, an instance of the Gateway g, a waypoint of that name.
struct Attachment {
  std::string policy;
  bool workload, gateway, waypoint;
};

TEST_F(PolicySelectionTest, TargetsAreForGatewaysAndWaypoints) {
  const std::string other_kind = "group: 'apps' kind: 'Gateway' name: 'g'";
  const std::string other_name = "group: 'gateway.networking.k8s.io' kind: 'Gateway' name: 'h'";
  const std::vector<Attachment> table = {
      {"", true, true, false},
      {kWeb, true, true, false},
      {"selector { match_labels { key: 'app' value: 'db' } }", false, false, false},
      {StrCat("targetRefs { ", kGatewayRef, " }"), false, true, true},
      {StrCat("targetRef { ", kGatewayRef, " }"), false, true, true},
      {StrCat(kWeb, " targetRefs { ", kGatewayRef, " }"), false, true, true},
      {StrCat("targetRefs { ", kGatewayRef, " namespace: 'shop' }"), false, true, true},
      {StrCat("targetRefs { ", kGatewayRef, " namespace: 'other' }"), false, false, false},
      {StrCat("targetRefs { ", other_kind, " }"), false, false, false},
      {StrCat("targetRefs { ", other_name, " }"), false, false, false},
      {StrCat("targetRefs { ", other_name, " } targetRefs { ", kGatewayRef, " }"), false, true, true},
      // The old field does not count beside the new one.
      {StrCat("targetRefs { ", other_name, " } targetRef { ", kGatewayRef, " }"), false, false, false},
  };
  for (const Attachment& row : table) {
    PutAuthorization("shop", "p", row.policy);
    const auto has = [&](const PolicySubject& subject) {
      return !Select(Kind::kAuthorizationPolicy, subject).empty();
    };
    EXPECT_EQ(has({"shop", web_}), row.workload) << row.policy;
    EXPECT_EQ(has({"shop", gateway_}), row.gateway) << row.policy;
    EXPECT_EQ(has({"shop", gateway_, true}), row.waypoint) << row.policy;
  }
}

TEST_F(PolicySelectionTest, SelectorsOfGatewaysMayBeTurnedOff) {
  PutAuthorization("istio-system", "mesh", "");
  PutAuthorization("shop", "all", "");
  PutAuthorization("shop", "target", StrCat("targetRefs { ", kGatewayRef, " }"));
  PutAuthorization("shop", "web", kWeb);
  PolicySubject gateway{"shop", gateway_}, sidecar{"shop", web_};
  gateway.selectors_of_gateways = sidecar.selectors_of_gateways = false;
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, gateway), ElementsAre("shop/target"));
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, sidecar),
              ElementsAre("istio-system/mesh", "shop/all", "shop/web"));
  PutText<EnvoyFilter>(Kind::kEnvoyFilter, "shop", "all", "");
  EXPECT_THAT(Select(Kind::kEnvoyFilter, gateway), IsEmpty());
  EXPECT_THAT(Select(Kind::kEnvoyFilter, sidecar), ElementsAre("shop/all"));
  const PolicyParts parts = Build()->policies->PartsFor(Kind::kEnvoyFilter, sidecar);
  EXPECT_THAT(PolicyLabelKeys(Kind::kEnvoyFilter, parts, /*waypoint=*/false), IsEmpty());
  EXPECT_THAT(PolicyLabelKeys(Kind::kEnvoyFilter, parts, /*waypoint=*/false, false),
              ElementsAre(kGatewayNameLabel));
}

TEST_F(PolicySelectionTest, ARootPolicyCannotNameAGatewayOfAnotherNamespace) {
  PutAuthorization("istio-system", "p", StrCat("targetRefs { ", kGatewayRef, " }"));
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, "shop", gateway_), IsEmpty());
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, "istio-system", gateway_), ElementsAre("istio-system/p"));
}

TEST_F(PolicySelectionTest, AWaypointGetsWhatNamesItsServiceOrItsClass) {
  PutAuthorization("shop", "service", "targetRefs { kind: 'Service' name: 'web' }");
  PutAuthorization("shop", "core", "targetRefs { group: 'core' kind: 'Service' name: 'web' }");
  PutAuthorization("shop", "entry",
                   "targetRefs { group: 'networking.istio.io' kind: 'ServiceEntry' name: 'web' }");
  PutAuthorization("infra", "elsewhere", "targetRefs { kind: 'Service' name: 'web' }");
  const std::string a_class =
      "targetRefs { group: 'gateway.networking.k8s.io' kind: 'GatewayClass' name: 'istio-waypoint' }";
  PutAuthorization("istio-system", "class", a_class);
  PutAuthorization("shop", "class", a_class);
  const auto web = AddService("shop", "web", {80});
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, {"infra", gateway_, true, web.get()}),
              ElementsAre("istio-system/class", "shop/core", "shop/service"));
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, {"infra", gateway_, true}),
              ElementsAre("istio-system/class"));
  EXPECT_THAT(Select(Kind::kAuthorizationPolicy, {"infra", gateway_, false, web.get()}), IsEmpty());
}

TEST_F(PolicySelectionTest, EnvoyFiltersSelectByTheirOwnField) {
  PutText<EnvoyFilter>(Kind::kEnvoyFilter, "shop", "web",
                       "workload_selector { labels { key: 'app' value: 'web' } }");
  PutText<EnvoyFilter>(Kind::kEnvoyFilter, "shop", "all", "workload_selector {}");
  PutText<EnvoyFilter>(Kind::kEnvoyFilter, "shop", "gateway", StrCat("targetRefs { ", kGatewayRef, " }"));
  EXPECT_THAT(Select(Kind::kEnvoyFilter, "shop", web_), ElementsAre("shop/all", "shop/web"));
  EXPECT_THAT(Select(Kind::kEnvoyFilter, "shop", none_), ElementsAre("shop/all"));
}

TEST_F(PolicySelectionTest, LayersAreTheOldestForAllOfEachAndTheOwnThatSelect) {
  for (const char* ns : {"istio-system", "shop"}) {
    PutText<Telemetry>(Kind::kTelemetry, ns, "young", "");
    PutText<Telemetry>(Kind::kTelemetry, ns, "old", "selector {}", 5);
    PutText<Telemetry>(Kind::kTelemetry, ns, "web", kWeb, 9);
    PutText<Telemetry>(Kind::kTelemetry, ns, "web-too", kWeb);
    PutText<Telemetry>(Kind::kTelemetry, ns, "gateway", StrCat("targetRefs { ", kGatewayRef, " }"));
  }
  EXPECT_THAT(Select(Kind::kTelemetry, "shop", web_),
              ElementsAre("istio-system/old", "shop/old", "shop/web", "shop/web-too"));
  EXPECT_THAT(Select(Kind::kTelemetry, "istio-system", web_),
              ElementsAre("istio-system/old", "istio-system/web", "istio-system/web-too"));
  EXPECT_THAT(Select(Kind::kTelemetry, "other", web_), ElementsAre("istio-system/old"));
  EXPECT_THAT(Select(Kind::kTelemetry, "shop", LabelMap{{std::string(kGatewayNameLabel), "g"}}),
              ElementsAre("istio-system/old", "shop/old", "shop/gateway"));
}

TEST_F(PolicySelectionTest, OfPeerAuthenticationsOneOfEachLayerCounts) {
  PutPeerAuthentication("istio-system", "mesh", "");
  PutPeerAuthentication("istio-system", "never", kWeb);
  PutPeerAuthentication("shop", "old", kWeb, 2);
  PutPeerAuthentication("shop", "young", kWeb);
  PutPeerAuthentication("shop", "all", "");
  EXPECT_THAT(Select(Kind::kPeerAuthentication, "shop", web_),
              ElementsAre("istio-system/mesh", "shop/all", "shop/old"));
  EXPECT_THAT(Select(Kind::kPeerAuthentication, "istio-system", web_), ElementsAre("istio-system/mesh"));
  EXPECT_THAT(Keys(Kind::kPeerAuthentication, "istio-system"), IsEmpty());
}

TEST_F(PolicySelectionTest, AProxyConfigWithAnEmptySelectorIsForNobody) {
  using istio::networking::v1beta1::ProxyConfig;
  PutText<ProxyConfig>(Kind::kProxyConfig, "shop", "empty", "selector {}", 5);
  PutText<ProxyConfig>(Kind::kProxyConfig, "shop", "all", "");
  PutText<ProxyConfig>(Kind::kProxyConfig, "shop", "web", kWeb);
  PutText<ProxyConfig>(Kind::kProxyConfig, "istio-system", "web", kWeb);
  EXPECT_THAT(Select(Kind::kProxyConfig, "shop", web_), ElementsAre("shop/all", "shop/web"));
  EXPECT_THAT(Select(Kind::kProxyConfig, "istio-system", web_), ElementsAre("istio-system/web"));
}

TEST_F(PolicySelectionTest, OneSidecarIsTheNearest) {
  PutSidecar("istio-system", "mesh", "");
  PutSidecar("istio-system", "selecting", "workload_selector { labels { key: 'app' value: 'web' } }");
  EXPECT_THAT(Select(Kind::kSidecar, "shop", web_), ElementsAre("istio-system/mesh"));
  EXPECT_THAT(Select(Kind::kSidecar, "istio-system", web_), ElementsAre("istio-system/selecting"));
  PutSidecar("shop", "all", "", 9);
  EXPECT_THAT(Select(Kind::kSidecar, "shop", web_), ElementsAre("shop/all"));
  PutSidecar("shop", "web", "workload_selector { labels { key: 'app' value: 'web' } }");
  EXPECT_THAT(Select(Kind::kSidecar, "shop", web_), ElementsAre("shop/web"));
  EXPECT_THAT(Select(Kind::kSidecar, "shop", none_), ElementsAre("shop/all"));
  PutSidecar("shop", "empty", "workload_selector {}", 3);
  EXPECT_THAT(Select(Kind::kSidecar, "shop", none_), ElementsAre("shop/empty"));
}

TEST_F(PolicySelectionTest, LabelKeysAreThoseThatAreLookedAt) {
  PutAuthorization("shop", "all", "");
  EXPECT_THAT(Keys(Kind::kAuthorizationPolicy, "shop"), IsEmpty());
  EXPECT_THAT(Keys(Kind::kAuthorizationPolicy, "shop", true), ElementsAre(kGatewayNameLabel));
  PutAuthorization("shop", "web", kWeb);
  PutAuthorization("istio-system", "tier", "selector { match_labels { key: 'tier' value: 'front' } }");
  EXPECT_THAT(Keys(Kind::kAuthorizationPolicy, "shop"), ElementsAre("app", "tier"));
  EXPECT_THAT(Keys(Kind::kAuthorizationPolicy, "other"), ElementsAre("tier"));
  PutAuthorization("shop", "gateway", StrCat("targetRefs { ", kGatewayRef, " }"));
  EXPECT_THAT(Keys(Kind::kAuthorizationPolicy, "shop"), ElementsAre("app", kGatewayNameLabel, "tier"));
  PutText<Telemetry>(Kind::kTelemetry, "istio-system", "web", kWeb);
  EXPECT_THAT(Keys(Kind::kTelemetry, "shop"), IsEmpty()) << "the root namespace's select its own alone";
  EXPECT_THAT(Keys(Kind::kTelemetry, "istio-system"), ElementsAre("app"));
}

}  // namespace
}  // namespace fairlead::mesh
