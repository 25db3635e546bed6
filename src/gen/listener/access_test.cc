#include <gmock/gmock.h>

#include "envoy/extensions/filters/http/rbac/v3/rbac.pb.h"
#include "gen/listener/listener_fixture.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "istio/security/v1beta1/request_authentication.pb.h"

// AuthorizationPolicies and RequestAuthentications in the listeners of a sidecar.
namespace fairlead::gen::listener {
namespace {

using config::Kind;
using istio::security::v1beta1::AuthorizationPolicy;
using istio::security::v1beta1::RequestAuthentication;
using model::Protocol;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class AccessTest : public ListenerFixture {
 protected:
  AccessTest() {
    AddPod("default", "client", "10.1.0.1", {{"app", "web"}});
    AddService("default", "http", {80}, {{"app", "web"}})->ports[0].protocol = Protocol::kHttp;
    AddService("default", "tcp", {81}, {{"app", "web"}})->ports[0].protocol = Protocol::kTcp;
    AddVip("default", "other", "10.96.0.9", 90, Protocol::kTcp);
    auto* provider = NewMeshConfig().add_extension_providers();
    provider->set_name("ask");
    provider->mutable_envoy_ext_authz_grpc()->set_service("http.default.svc.cluster.local");
    provider->mutable_envoy_ext_authz_grpc()->set_port(80);
    SetSettings();
  }
  void PutPolicy(std::string_view ns, std::string_view name, const std::string& text) {
    Put(Kind::kAuthorizationPolicy, ns, name, mesh::Parse<AuthorizationPolicy>(text));
  }
  void PutAll() {
    PutPolicy("istio-system", "custom", "action: CUSTOM provider { name: 'ask' } rules {}");
    PutPolicy("default", "audit", "action: AUDIT rules {}");
    PutPolicy("default", "deny", "action: DENY rules {}");
    PutPolicy("default", "allow", "selector { match_labels { key: 'app' value: 'web' } } rules {}");
    Put(Kind::kRequestAuthentication, "default", "jwt",
        mesh::Parse<RequestAuthentication>("jwt_rules { issuer: 'me' jwks: 'k' }"));
  }
  // The first chain of the inbound listener with the name.
  FilterChain Chain(const std::string& name) {
    const Listener listener = Generated(Client()).at("virtualInbound");
    for (const FilterChain& chain : listener.filter_chains()) {
      if (chain.name() == name) return chain;
    }
    ADD_FAILURE() << "no chain " << name;
    return {};
  }
};

constexpr char kExtAuthz[] = "envoy.filters.http.ext_authz", kRbac[] = "envoy.filters.http.rbac";

TEST_F(AccessTest, HttpFiltersInOrder) {
  PutAll();
  for (const char* chain : {"0.0.0.0_80", "virtualInbound-catchall-http"}) {
    EXPECT_THAT(FilterNames(Http(Chain(chain))),
                ElementsAre("istio.metadata_exchange", kRbac, kExtAuthz, "envoy.filters.http.jwt_authn",
                            kRbac, kRbac, kRbac, "envoy.filters.http.grpc_stats", "envoy.filters.http.fault",
                            "envoy.filters.http.cors", "envoy.filters.http.router"))
        << chain;
    EXPECT_THAT(FilterNames(Chain(chain)),
                ElementsAre("istio.metadata_exchange", "envoy.filters.network.http_connection_manager"))
        << "requests are looked at, not connections";
  }
}

TEST_F(AccessTest, NetworkFiltersInOrder) {
  PutAll();
  for (const char* chain : {"0.0.0.0_81", "virtualInbound"}) {
    EXPECT_THAT(FilterNames(Chain(chain)),
                ElementsAre("istio.metadata_exchange", "envoy.filters.network.rbac",
                            "envoy.filters.network.ext_authz", "envoy.filters.network.rbac",
                            "envoy.filters.network.rbac", "envoy.filters.network.rbac",
                            "envoy.filters.network.tcp_proxy"))
        << chain;
  }
  EXPECT_THAT(FilterNames(Chain("virtualInbound-blackhole")),
              ElementsAre("istio.metadata_exchange", "envoy.filters.network.tcp_proxy"));
}

TEST_F(AccessTest, WhatIsOutboundIsAsWithoutPolicies) {
  Listeners before = Generated(Client());
  PutAll();
  Listeners after = Generated(Client());
  EXPECT_NE(before.at("virtualInbound").SerializeAsString(), after.at("virtualInbound").SerializeAsString());
  before.erase("virtualInbound");
  after.erase("virtualInbound");
  ASSERT_EQ(NamesOf(before), NamesOf(after));
  for (const auto& [name, listener] : before) {
    EXPECT_EQ(listener.SerializeAsString(), after.at(name).SerializeAsString()) << name;
  }
}

TEST_F(AccessTest, PoliciesOfOthersChangeNothing) {
  const std::string before = Generated(Client()).at("virtualInbound").SerializeAsString();
  PutPolicy("elsewhere", "p", "action: DENY rules {}");
  PutPolicy("default", "p", "selector { match_labels { key: 'app' value: 'db' } } action: DENY rules {}");
  EXPECT_EQ(Generated(Client()).at("virtualInbound").SerializeAsString(), before);
  PutPolicy("default", "p", "selector { match_labels { key: 'app' value: 'web' } } action: DENY rules {}");
  EXPECT_THAT(FilterNames(Http(Chain("0.0.0.0_80"))), Contains(kRbac));
}

TEST_F(AccessTest, AStockEnvoyEnforcesThemToo) {
  PutAll();
  auto proxy = Client();
  proxy->extensions = model::ExtensionSet::Intern({"envoy.filters.http.router"});
  const Listener listener = Generated(proxy).at("virtualInbound");
  EXPECT_THAT(listener.SerializeAsString(), HasSubstr(kRbac));
  EXPECT_THAT(listener.SerializeAsString(), Not(HasSubstr("istio.metadata_exchange")));
}

TEST_F(AccessTest, ListenersSayWhichPoliciesTheyAreMadeFrom) {
  PutAll();
  PutPeerAuthentication("istio-system", "mesh", "mtls { mode: STRICT }");
  PutPeerAuthentication("default", "own", "mtls { mode: PERMISSIVE }");
  PutPeerAuthentication("other", "elsewhere", "mtls { mode: PERMISSIVE }");
  for (const cache::ResourcePtr& listener : Generate(Build(), Client())) {
    if (listener->name == "virtualInbound") {
      EXPECT_THAT(listener->origins, Contains(OriginKey("AuthorizationPolicy", "default", "deny")));
      EXPECT_THAT(listener->origins, Contains(OriginKey("RequestAuthentication", "default", "jwt")));
      EXPECT_THAT(listener->origins, Contains(OriginKey("PeerAuthentication", "default", "own")));
      EXPECT_THAT(listener->origins, Contains(OriginKey("PeerAuthentication", "istio-system", "mesh")));
      EXPECT_THAT(listener->origins, Not(Contains(OriginKey("PeerAuthentication", "other", "elsewhere"))));
    } else {
      EXPECT_THAT(listener->origins, testing::IsEmpty()) << "policies are for what comes in";
    }
  }
}

}  // namespace
}  // namespace fairlead::gen::listener
