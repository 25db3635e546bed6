#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/config/route/v3/route.pb.h"
#include "envoy/extensions/filters/http/fault/v3/fault.pb.h"
#include "envoy/extensions/filters/http/router/v3/router.pb.h"
#include "envoy/extensions/filters/http/stateful_session/v3/stateful_session.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/http/stateful_session/header/v3/header.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "gen/generator.h"
#include "gen/grpc/build.h"
#include "gen/grpc/generators.h"
#include "gen/grpc/listener_names.h"
#include "gen/route/expect_message.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "mesh/mesh_fixture.h"
#include "model/proxyless.h"

namespace fairlead::gen::grpc {
namespace {

using envoy::config::cluster::v3::Cluster;
using envoy::config::listener::v3::Listener;
using envoy::config::route::v3::RouteConfiguration;
using route::ExpectMessage;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr char kHost[] = "web.shop.svc.cluster.local";
constexpr char kWeb[] = "outbound|80||web.shop.svc.cluster.local";

// A service "web" with the ports 80 and 81, and a gRPC client or server of its namespace.
class GrpcTest : public mesh::MeshFixture {
 protected:
  GrpcTest() {
    // The linker drops types that nobody names; the texts below do.
    envoy::extensions::filters::http::fault::v3::HTTPFault::descriptor();
    envoy::extensions::filters::http::router::v3::Router::descriptor();
    web_ = AddService("shop", "web", {80, 81}, {{"app", "web"}});
    web_->address = "10.0.0.7";
    web_->cluster_vips = {"10.0.0.7"};
    proxy_ = std::make_shared<model::Proxy>(*MakeProxy("shop", "web-1", "10.1.0.1"));
    proxy_->supports_ipv4 = true;
    proxy_->domain = "shop.svc.cluster.local";
    proxy_->metadata.generator = model::kGrpcGenerator;
    proxy_->proxy_class = model::ClassOf(*proxy_);
  }

  template <typename Message>
  std::vector<Message> Ask(Generator& generator, const std::vector<std::string>* names) {
    const mesh::SnapshotPtr snapshot = Build();
    const mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(*snapshot, proxy_);
    std::vector<Message> out;
    for (const cache::ResourcePtr& resource : GenerateFor(generator, *snapshot, *scope, names)) {
      google::protobuf::Any any;
      EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()));
      EXPECT_TRUE(any.UnpackTo(&out.emplace_back()));
      names_.push_back(resource->name.str());
    }
    return out;
  }
  std::vector<Listener> Listeners(const std::vector<std::string>& names) {
    names_.clear();
    return Ask<Listener>(*NewGrpcListenerGenerator(), &names);
  }
  std::vector<std::string> ListenerNamesFor(const std::vector<std::string>& names) {
    Listeners(names);
    return names_;
  }
  std::vector<Cluster> Clusters(const std::vector<std::string>& names) {
    return Ask<Cluster>(*NewGrpcClusterGenerator(), &names);
  }
  Cluster Web(std::string_view subset = "") {
    const auto found = Clusters({StrCat("outbound|80|", subset, "|", kHost)});
    return found.size() == 1 ? found[0] : Cluster();
  }
  RouteConfiguration Routes(const std::string& name = kWeb) {
    const std::vector<std::string> names = {name};
    const auto found = Ask<RouteConfiguration>(*NewGrpcRouteGenerator(), &names);
    return found.size() == 1 ? found[0] : RouteConfiguration();
  }
  void Rule(const std::string& text) { PutDestinationRule("shop", "web", StrCat("host: 'web' ", text)); }
  void AddEndpoint(LabelMap labels, std::vector<std::string> accounts) {
    auto workload = std::make_shared<model::Workload>();
    workload->labels = std::move(labels);
    auto endpoints = std::make_shared<model::ServiceEndpoints>();
    model::Endpoint& endpoint = endpoints->shards.emplace_back().endpoints.emplace_back();
    endpoint.addresses = {Interned("10.2.0.1")};
    endpoint.port_name = "http-80";
    endpoint.port = 8080;
    endpoint.workload = workload;
    endpoints->service_accounts = std::move(accounts);
    registry_.endpoints[{web_->hostname, web_->ns}] = endpoints;
    registry_.changes.endpoints.push_back({web_->hostname, web_->ns});
  }

  std::shared_ptr<model::Service> web_;
  std::shared_ptr<model::Proxy> proxy_;
  std::vector<std::string> names_;  // of the resources that were made
};

constexpr char kClientListener[] = R"pb(
  name: "web.shop.svc.cluster.local:80"
  address { socket_address { address: "10.0.0.7" port_value: 80 } }
  api_listener {
    api_listener {
      [type.googleapis.com/
       envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager] {
        rds {
          config_source { ads {} }
          route_config_name: "outbound|80||web.shop.svc.cluster.local"
        }
        http_filters {
          name: "envoy.filters.http.fault"
          typed_config {
            [type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault] {}
          }
        }
        http_filters {
          name: "envoy.filters.http.router"
          typed_config {
            [type.googleapis.com/envoy.extensions.filters.http.router.v3.Router] {}
          }
        }
      }
    }
  })pb";

TEST_F(GrpcTest, AClientGetsTheListenerOfTheHostAndPortThatItCalls) {
  const auto listeners = Listeners({StrCat(kHost, ":80")});
  ASSERT_EQ(listeners.size(), 1u);
  ExpectMessage(listeners[0], kClientListener);
}

TEST_F(GrpcTest, ListenersAreNamedAsTheyWereAskedFor) {
  EXPECT_THAT(ListenerNamesFor({"web:80"}), ElementsAre("web:80"));
  EXPECT_THAT(ListenerNamesFor({"web.shop:81"}), ElementsAre("web.shop:81"));
  EXPECT_THAT(ListenerNamesFor({StrCat(kHost, ":80"), "web.shop.svc:80"}),
              UnorderedElementsAre(StrCat(kHost, ":80"), "web.shop.svc:80"));
  EXPECT_EQ(Listeners({"web:80"})[0].api_listener().api_listener().value(),
            Listeners({StrCat(kHost, ":80")})[0].api_listener().api_listener().value());
}

TEST_F(GrpcTest, ANameWithoutPortStandsForAllPorts) {
  EXPECT_THAT(ListenerNamesFor({kHost}), UnorderedElementsAre(StrCat(kHost, ":80"), StrCat(kHost, ":81")));
  EXPECT_THAT(ListenerNamesFor({"web:80", "web"}), UnorderedElementsAre("web:80", "web:81"));
}

TEST_F(GrpcTest, UnknownListenersAreLeftOut) {
  EXPECT_THAT(ListenerNamesFor({"web:82", "nobody:80", "other.example.com:80"}), IsEmpty());
}

TEST_F(GrpcTest, AskingForNoNameGivesAllClientListeners) {
  AddExternal("shop", "api.example.com", {443});
  Ask<Listener>(*NewGrpcListenerGenerator(), nullptr);
  EXPECT_THAT(names_,
              UnorderedElementsAre(StrCat(kHost, ":80"), StrCat(kHost, ":81"), "api.example.com:443"));
}

constexpr char kServerName[] = "xds.istio.io/grpc/lds/inbound/0.0.0.0:80";

TEST_F(GrpcTest, AServerGetsPlainTextWherePermissive) {
  AddPod("shop", "web-1", "10.1.0.1", {{"app", "web"}});
  const auto listeners = Listeners({kServerName, "xds.istio.io/grpc/lds/inbound/0.0.0.0:9999"});
  ASSERT_EQ(listeners.size(), 1u);
  ExpectMessage(listeners[0], R"pb(
    name: "xds.istio.io/grpc/lds/inbound/0.0.0.0:80"
    address { socket_address { address: "0.0.0.0" port_value: 80 } }
    filter_chains {
      name: "inbound-plaintext"
      filters {
        name: "inbound-hcmplaintext"
        typed_config {
          [type.googleapis.com/
           envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager] {
            route_config {
              name: "inbound"
              virtual_hosts {
                domains: "*"
                routes {
                  match { prefix: "/" }
                  non_forwarding_action {}
                }
              }
            }
            http_filters {
              name: "envoy.filters.http.router"
              typed_config {
                [type.googleapis.com/envoy.extensions.filters.http.router.v3.Router] {}
              }
            }
          }
        }
      }
    })pb");
}

constexpr char kServerTls[] = R"pb(
  name: "envoy.transport_sockets.tls"
  typed_config {
    [type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext] {
      common_tls_context {
        tls_certificate_provider_instance { instance_name: "default" certificate_name: "default" }
        tls_certificate_certificate_provider_instance { instance_name: "default" certificate_name: "default" }
        combined_validation_context {
          default_validation_context {
            ca_certificate_provider_instance { instance_name: "default" certificate_name: "ROOTCA" }
          }
          validation_context_certificate_provider_instance {
            instance_name: "default"
            certificate_name: "ROOTCA"
          }
        }
      }
      require_client_certificate { value: true }
    }
  })pb";

TEST_F(GrpcTest, AServerDemandsMutualTlsWherePeerAuthenticationIsStrict) {
  AddPod("shop", "web-1", "10.1.0.1", {{"app", "web"}});
  PutPeerAuthentication("shop", "p",
                        "selector { match_labels { key: 'app' value: 'web' } } mtls { mode: STRICT } "
                        "port_level_mtls { key: 81 value { mode: DISABLE } }");
  const auto listeners = Listeners({kServerName, "xds.istio.io/grpc/lds/inbound/[::]:81"});
  ASSERT_EQ(listeners.size(), 2u);
  EXPECT_EQ(listeners[0].filter_chains(0).name(), "inbound-mtls");
  ExpectMessage(listeners[0].filter_chains(0).transport_socket(), kServerTls);
  EXPECT_EQ(listeners[1].address().socket_address().address(), "::");
  EXPECT_EQ(listeners[1].filter_chains(0).name(), "inbound-plaintext");
  EXPECT_FALSE(listeners[1].filter_chains(0).has_transport_socket());
}

TEST_F(GrpcTest, AServerThatSaysItSpeaksMutualTlsDemandsItWherePermissive) {
  AddPod("shop", "web-1", "10.1.0.1", {{"app", "web"}, {"security.istio.io/tlsMode", "istio"}});
  EXPECT_EQ(Listeners({kServerName})[0].filter_chains(0).name(), "inbound-mtls");
  PutPeerAuthentication("shop", "default", "mtls { mode: DISABLE }");
  EXPECT_EQ(Listeners({kServerName})[0].filter_chains(0).name(), "inbound-plaintext");
}

TEST_F(GrpcTest, AServerFirstDeniesThenAllowsThenServes) {
  using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
  using istio::security::v1beta1::AuthorizationPolicy;
  AddPod("shop", "web-1", "10.1.0.1", {{"app", "web"}});
  const auto filters = [this] {
    HttpConnectionManager manager;
    const auto listeners = Listeners({kServerName});
    EXPECT_TRUE(listeners.at(0).filter_chains(0).filters(0).typed_config().UnpackTo(&manager));
    std::vector<std::string> names;
    for (const auto& filter : manager.http_filters()) names.push_back(filter.name());
    return names;
  };
  const auto put = [this](const char* name, const char* text) {
    Put(config::Kind::kAuthorizationPolicy, "shop", name, route::FromText<AuthorizationPolicy>(text));
  };
  put("deny", "action: DENY");  // without rules it denies nobody
  EXPECT_THAT(filters(), ElementsAre("envoy.filters.http.router"));
  put("deny", "action: DENY rules {}");
  put("allow", "");
  EXPECT_THAT(filters(), ElementsAre("envoy.filters.http.rbac.DENY", "envoy.filters.http.rbac",
                                     "envoy.filters.http.router"));
}

TEST(ListenerNamesTest, ServerNamesNeedAPort) {
  const std::string prefix(kServerListenerPrefix);
  const ListenerNames names =
      ParseListenerNames({prefix + "foo:1234", prefix + "foo", prefix + "[::]:8076", prefix + "foo:port"},
                         "ns", "ns.svc.cluster.local");
  EXPECT_THAT(names.servers, ElementsAre(ServerListenerName{prefix + "foo:1234", "foo", 1234},
                                         ServerListenerName{prefix + "[::]:8076", "::", 8076}));
  EXPECT_THAT(names.hosts, IsEmpty());
}

TEST(ListenerNamesTest, ShortHostsAreCompletedInTheClientsDomain) {
  const auto complete = [](std::string_view host) {
    return CompleteHost(host, "ns", "ns.svc.cluster.local");
  };
  EXPECT_EQ(complete("foo"), "foo.ns.svc.cluster.local");
  EXPECT_EQ(complete("foo.ns"), "foo.ns.svc.cluster.local");
  EXPECT_EQ(complete("foo.ns.svc"), "foo.ns.svc.cluster.local");
  EXPECT_EQ(complete("foo.ns.svc.cluster.local"), "");
  EXPECT_EQ(complete("foo.com"), "");
  EXPECT_EQ(complete("foo.other.svc"), "");
}

TEST_F(GrpcTest, AClusterTakesItsEndpointsFromTheSameStream) {
  ExpectMessage(Web(), R"pb(
    name: "outbound|80||web.shop.svc.cluster.local"
    alt_stat_name: "outbound|80||web.shop.svc.cluster.local;"
    type: EDS
    eds_cluster_config {
      eds_config { ads {} }
      service_name: "outbound|80||web.shop.svc.cluster.local"
    })pb");
}

TEST_F(GrpcTest, UnknownClustersAreLeftOut) {
  Rule("subsets { name: 'v1' }");
  EXPECT_EQ(Clusters({"outbound|80|v1|web.shop.svc.cluster.local"}).size(), 1u);
  EXPECT_THAT(
      Clusters({"outbound|82||web.shop.svc.cluster.local", "outbound|80|v2|web.shop.svc.cluster.local",
                "outbound|80||web", "outbound|80", "outbound_.80_._.web.shop.svc.cluster.local"}),
      IsEmpty());
  EXPECT_THAT(Ask<Cluster>(*NewGrpcClusterGenerator(), nullptr), IsEmpty());
}

TEST_F(GrpcTest, SubsetsInheritThePolicyOfTheirRule) {
  Rule(R"pb(
    traffic_policy {
      load_balancer { simple: LEAST_REQUEST }
      connection_pool {
        http { http2_max_requests: 7 }
        tcp { max_connections: 3 }
      }
    }
    subsets { name: "v1" }
    subsets {
      name: "v2"
      traffic_policy { load_balancer { simple: ROUND_ROBIN } }
    })pb");
  EXPECT_EQ(Web().lb_policy(), Cluster::LEAST_REQUEST);
  EXPECT_EQ(Web("v1").lb_policy(), Cluster::LEAST_REQUEST);
  EXPECT_EQ(Web("v2").lb_policy(), Cluster::ROUND_ROBIN);
  for (const char* subset : {"", "v1", "v2"}) {
    ExpectMessage(Web(subset).circuit_breakers(), "thresholds { max_requests { value: 7 } }");
  }
}

TEST_F(GrpcTest, ConsistentHashingIsARing) {
  Rule("traffic_policy { load_balancer { consistent_hash { http_header_name: 'x' minimum_ring_size: 9 } } }");
  EXPECT_EQ(Web().lb_policy(), Cluster::RING_HASH);
  EXPECT_EQ(Web().ring_hash_lb_config().minimum_ring_size().value(), 9u);
}

TEST_F(GrpcTest, StickySessionsReachDrainingEndpoints) {
  web_->labels["istio.io/persistent-session"] = "cookie";
  EXPECT_EQ(Web().common_lb_config().override_host_status().statuses_size(), 4);
}

TEST_F(GrpcTest, SessionsAreSaidByTheListener) {
  web_->labels["istio.io/persistent-session-header"] = "x-session";
  using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
  const auto filters = [this] {
    HttpConnectionManager manager;
    EXPECT_TRUE(Listeners({kHost + std::string(":80")})[0].api_listener().api_listener().UnpackTo(&manager));
    return manager.http_filters();
  };
  EXPECT_EQ(filters()[0].name(), "envoy.filters.http.fault");
  settings_.features.sessions = true;
  SetSettings();
  ASSERT_EQ(filters()[0].name(), "envoy.filters.http.stateful_session");
  envoy::extensions::filters::http::stateful_session::v3::StatefulSession session;
  ASSERT_TRUE(filters()[0].typed_config().UnpackTo(&session));
  envoy::extensions::http::stateful_session::header::v3::HeaderBasedSessionState header;
  ASSERT_TRUE(session.session_state().typed_config().UnpackTo(&header));
  EXPECT_EQ(header.name(), "x-session");
}

TEST_F(GrpcTest, MutualTlsExpectsTheEndpointsIdentities) {
  AddEndpoint({}, {"spiffe://cluster.local/ns/shop/sa/web"});
  Rule("traffic_policy { tls { mode: ISTIO_MUTUAL } }");
  envoy::extensions::transport_sockets::tls::v3::UpstreamTlsContext context;
  ASSERT_TRUE(Web().transport_socket().typed_config().UnpackTo(&context));
  const auto& validation = context.common_tls_context().combined_validation_context();
  ExpectMessage(validation.default_validation_context(), R"pb(
    match_subject_alt_names { exact: "spiffe://cluster.local/ns/shop/sa/web" }
    ca_certificate_provider_instance { instance_name: "default" certificate_name: "ROOTCA" })pb");
  EXPECT_EQ(context.common_tls_context().tls_certificate_provider_instance().certificate_name(), "default");
}

TEST_F(GrpcTest, NoTlsUnlessTheRuleSaysSo) {
  AddEndpoint({{"security.istio.io/tlsMode", "istio"}}, {});
  EXPECT_FALSE(Web().has_transport_socket());
}

TEST_F(GrpcTest, EndpointsAreNotReachedThroughTunnels) {
  AddEndpoint({{"networking.istio.io/tunnel", "http"}}, {});
  const std::vector<std::string> names = {kWeb};
  using Assignment = envoy::config::endpoint::v3::ClusterLoadAssignment;
  const auto address_of = [](const std::vector<Assignment>& all) {
    return all.at(0).endpoints(0).lb_endpoints(0).endpoint().address();
  };
  const auto generator = NewEndpointGenerator();
  EXPECT_EQ(address_of(Ask<Assignment>(*generator, &names)).socket_address().address(), "10.2.0.1");
  proxy_ = std::make_shared<model::Proxy>(*proxy_);
  proxy_->metadata.generator.clear();
  proxy_->proxy_class = model::ClassOf(*proxy_);
  EXPECT_TRUE(address_of(Ask<Assignment>(*generator, &names)).has_envoy_internal_address());
}

TEST_F(GrpcTest, RoutesAreThoseOfTheHostAlone) {
  AddService("shop", "other", {80});
  const RouteConfiguration routes = Routes();
  EXPECT_EQ(routes.name(), kWeb);
  EXPECT_FALSE(routes.ignore_port_in_host_matching());
  ASSERT_EQ(routes.virtual_hosts_size(), 1);
  EXPECT_EQ(routes.virtual_hosts(0).name(), StrCat(kHost, ":80"));
  const auto& domains = routes.virtual_hosts(0).domains();
  EXPECT_THAT(
      std::vector<std::string>(domains.begin(), domains.end()),
      ElementsAre(kHost, StrCat(kHost, ":80"), StrCat(kHost, "."), StrCat(kHost, ".:80"), "web", "web:80",
                  "web.shop.svc", "web.shop.svc:80", "web.shop", "web.shop:80", "10.0.0.7", "10.0.0.7:80"));
  ASSERT_EQ(routes.virtual_hosts(0).routes_size(), 1);
  EXPECT_EQ(routes.virtual_hosts(0).routes(0).route().cluster(), kWeb);
}

TEST_F(GrpcTest, TimeoutsOfAVirtualServiceAreOfStreams) {
  PutVirtualService("shop", "v", R"pb(
    hosts: "web"
    http {
      timeout { seconds: 3 }
      route {
        destination { host: "web.shop.svc.cluster.local" subset: "v1" }
        weight: 75
      }
      route {
        destination { host: "web.shop.svc.cluster.local" subset: "v2" }
        weight: 25
      }
    })pb");
  const RouteConfiguration routes = Routes();
  ASSERT_EQ(routes.virtual_hosts_size(), 1);
  const auto& action = routes.virtual_hosts(0).routes(0).route();
  ExpectMessage(action.max_stream_duration(), "max_stream_duration { seconds: 3 }");
  EXPECT_EQ(action.timeout().seconds(), 3);
  const auto* older = action.GetDescriptor()->FindFieldByName("max_grpc_timeout");
  ASSERT_NE(older, nullptr);
  EXPECT_FALSE(action.GetReflection()->HasField(action, older));
  ExpectMessage(action.weighted_clusters(), R"pb(
    clusters {
      name: "outbound|80|v1|web.shop.svc.cluster.local"
      weight { value: 75 }
    }
    clusters {
      name: "outbound|80|v2|web.shop.svc.cluster.local"
      weight { value: 25 }
    })pb");
}

TEST_F(GrpcTest, NamesThatAreNoClustersHaveNoRoutes) {
  EXPECT_EQ(Routes("80").name(), "");
  EXPECT_EQ(Routes("outbound|x||web").name(), "");
  EXPECT_EQ(Routes("outbound|80||nobody").name(), "outbound|80||nobody");
  EXPECT_EQ(Routes("outbound|80||nobody").virtual_hosts_size(), 0);
}

route::VirtualHost HostWith(std::vector<std::string> domains) {
  route::VirtualHost out;
  out.name = domains.front();
  out.domains = std::move(domains);
  return out;
}

TEST(HostsForTest, ByNameOrWildcardAndPort) {
  const std::string host = "a.test.svc.cluster.local";
  const auto answers = [&](const std::string& domain, const std::string& asked) {
    return !HostsFor({HostWith({"x.com", domain})}, asked, 8080).empty();
  };
  EXPECT_TRUE(answers(host, host));
  EXPECT_TRUE(answers("A.Test.svc.cluster.local", host));
  EXPECT_TRUE(answers(host + ":8080", host));
  EXPECT_FALSE(answers(host + ":9090", host));
  EXPECT_TRUE(answers("*.test.svc.cluster.local", host));
  EXPECT_TRUE(answers("*.test.svc.cluster.local:8080", host));
  EXPECT_FALSE(answers("*.test.svc.cluster.local:9090", host));
  EXPECT_FALSE(answers("*.other.svc.cluster.local", host));
  EXPECT_FALSE(answers("b." + host, host));
  EXPECT_TRUE(answers("[2001:db8::1]", "2001:db8::1"));
  EXPECT_TRUE(answers("[2001:db8::1]:8080", "2001:db8::1"));
  EXPECT_FALSE(answers("[2001:db8::2]:8080", "2001:db8::1"));
  EXPECT_TRUE(answers("*", host));
}

}  // namespace
}  // namespace fairlead::gen::grpc
