#ifndef FAIRLEAD_GEN_GATEWAY_GATEWAY_FIXTURE_H_
#define FAIRLEAD_GEN_GATEWAY_GATEWAY_FIXTURE_H_

#include <google/protobuf/any.pb.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/config/route/v3/route.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.pb.h"
#include "gen/gateway/generators.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "mesh/mesh_fixture.h"

// For this folder's tests: what a router in a mesh made by hand is sent.
namespace fairlead::gen::gateway {

using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::Listener;
using envoy::config::route::v3::RouteConfiguration;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using envoy::extensions::filters::network::tcp_proxy::v3::TcpProxy;

template <typename Message>
Message Unpack(const google::protobuf::Any& any) {
  Message message;
  EXPECT_TRUE(any.UnpackTo(&message)) << any.type_url();
  return message;
}
// The last filter of the chain.
inline TcpProxy Tcp(const FilterChain& chain) {
  return Unpack<TcpProxy>(chain.filters().rbegin()->typed_config());
}
inline HttpConnectionManager Http(const FilterChain& chain) {
  return Unpack<HttpConnectionManager>(chain.filters().rbegin()->typed_config());
}

class GatewayFixture : public mesh::MeshFixture {
 protected:
  GatewayFixture() {
    NewMeshConfig().set_trust_domain("cluster.local");
    SetSettings();
    router_->type = model::ProxyType::kRouter;
    router_->supports_ipv4 = true;
    router_->domain = "istio-system.svc.cluster.local";
  }

  void PutGateway(std::string_view ns, std::string_view name, const std::string& text, int age = 0) {
    Put(config::Kind::kGateway, ns, name, mesh::Parse<istio::networking::v1alpha3::Gateway>(text), age);
  }

  Resources Generate(Generator& generator, const Names* names) {
    auto router = std::make_shared<model::Proxy>(*router_);
    router->proxy_class = model::ClassOf(*router);
    const mesh::SnapshotPtr snapshot = Build();
    return GenerateFor(generator, *snapshot, *mesh::ComputeProxyScope(*snapshot, router), names);
  }
  template <typename Message>
  static Message Decode(const cache::ResourcePtr& resource) {
    google::protobuf::Any any;
    EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()));
    return Unpack<Message>(any);
  }
  std::map<std::string, Listener> Listeners() {
    std::map<std::string, Listener> listeners;
    for (const cache::ResourcePtr& resource : Generate(*listener_generator_, nullptr)) {
      Listener listener = Decode<Listener>(resource);
      EXPECT_EQ(resource->name, listener.name());
      listeners.emplace(listener.name(), std::move(listener));
    }
    return listeners;
  }
  RouteConfiguration Routes(const std::string& name) {
    const Names names = {name};
    return Decode<RouteConfiguration>(Generate(*route_generator_, &names).at(0));
  }

  std::shared_ptr<model::Proxy> router_ =
      std::make_shared<model::Proxy>(*MakeProxy("istio-system", "gw", "10.0.0.1"));
  std::unique_ptr<Generator> listener_generator_ = NewGatewayListenerGenerator(NewListenerGenerator());
  std::unique_ptr<Generator> route_generator_ = NewGatewayRouteGenerator(NewRouteGenerator());
};

}  // namespace fairlead::gen::gateway

#endif  // FAIRLEAD_GEN_GATEWAY_GATEWAY_FIXTURE_H_
