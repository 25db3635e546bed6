#ifndef FAIRLEAD_GEN_LISTENER_LISTENER_FIXTURE_H_
#define FAIRLEAD_GEN_LISTENER_LISTENER_FIXTURE_H_

#include <google/protobuf/any.pb.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.pb.h"
#include "gen/generator.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"
#include "mesh/mesh_fixture.h"

// For this folder's tests: the listeners that a proxy in a mesh made by hand is sent.
namespace fairlead::gen::listener {

using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using envoy::extensions::filters::network::tcp_proxy::v3::TcpProxy;
using Listeners = std::map<std::string, Listener>;

template <typename Message>
Message Unpack(const google::protobuf::Any& any) {
  Message message;
  EXPECT_TRUE(any.UnpackTo(&message)) << any.type_url();
  return message;
}

inline std::vector<std::string> FilterNames(const FilterChain& chain) {
  std::vector<std::string> names;
  for (const auto& filter : chain.filters()) names.push_back(filter.name());
  return names;
}
inline std::vector<std::string> FilterNames(const HttpConnectionManager& manager) {
  std::vector<std::string> names;
  for (const auto& filter : manager.http_filters()) names.push_back(filter.name());
  return names;
}
// The last filter of the chain.
inline TcpProxy Tcp(const FilterChain& chain) {
  return Unpack<TcpProxy>(chain.filters().rbegin()->typed_config());
}
inline HttpConnectionManager Http(const FilterChain& chain) {
  return Unpack<HttpConnectionManager>(chain.filters().rbegin()->typed_config());
}
// The cluster that a listener with one TCP chain leads to.
inline std::string ClusterOf(const Listener& listener) {
  EXPECT_EQ(listener.filter_chains_size(), 1) << listener.DebugString();
  return Tcp(listener.filter_chains(0)).cluster();
}
inline std::vector<std::string> NamesOf(const Listeners& listeners) {
  std::vector<std::string> names;
  names.reserve(listeners.size());
  for (const auto& [name, listener] : listeners) names.push_back(name);
  return names;
}

class ListenerFixture : public mesh::MeshFixture {
 protected:
  ListenerFixture() {
    NewMeshConfig().set_proxy_listen_port(15001);
    NewMeshConfig().set_proxy_inbound_listen_port(15006);
    NewMeshConfig().set_trust_domain("cluster.local");
    SetSettings();
  }

  std::shared_ptr<model::Proxy> Client(std::string_view ns = "default", std::string_view ip = "10.1.0.1") {
    auto proxy = std::make_shared<model::Proxy>(*MakeProxy(ns, "client", ip));
    proxy->supports_ipv4 = true;
    proxy->domain = StrCat(ns, ".svc.cluster.local");
    return proxy;
  }

  // A service with a virtual IP; the port's name says its number only.
  std::shared_ptr<model::Service> AddVip(std::string_view ns, std::string_view name, std::string_view ip,
                                         uint32_t port, model::Protocol protocol) {
    auto service = AddService(ns, name, {port});
    service->address = ip;
    service->cluster_vips = {std::string(ip)};
    service->ports[0].protocol = protocol;
    return service;
  }
  std::shared_ptr<model::Service> AddHeadless(std::string_view ns, std::string_view name, uint32_t port,
                                              model::Protocol protocol) {
    auto service = AddService(ns, name, {port});
    service->resolution = model::Resolution::kPassthrough;
    service->ports[0].protocol = protocol;
    return service;
  }
  void SetEndpoints(const model::ServicePtr& service, const std::vector<std::string>& addresses) {
    auto endpoints = std::make_shared<model::ServiceEndpoints>();
    auto& shard = endpoints->shards.emplace_back();
    for (const std::string& address : addresses) {
      model::Endpoint& endpoint = shard.endpoints.emplace_back();
      endpoint.addresses = {Interned(address)};
      endpoint.port_name = Interned(service->ports[0].name);
      endpoint.workload = std::make_shared<const model::Workload>();
    }
    registry_.endpoints[{service->hostname, service->ns}] = endpoints;
    registry_.changes.endpoints.push_back({service->hostname, service->ns});
  }

  std::vector<cache::ResourcePtr> Generate(const mesh::SnapshotPtr& snapshot, const model::ProxyPtr& proxy,
                                           const std::vector<std::string>* names = nullptr) {
    auto classified = std::make_shared<model::Proxy>(*proxy);
    classified->proxy_class = model::ClassOf(*classified);
    const mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(*snapshot, classified);
    return GenerateFor(*generator_, *snapshot, *scope, names);
  }
  Listeners Generated(const model::ProxyPtr& proxy) {
    Listeners listeners;
    for (const cache::ResourcePtr& resource : Generate(Build(), proxy)) {
      google::protobuf::Any any;
      EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()));
      Listener listener = Unpack<Listener>(any);
      EXPECT_EQ(resource->name, listener.name());
      EXPECT_TRUE(listeners.emplace(listener.name(), std::move(listener)).second) << "two of one name";
    }
    return listeners;
  }

  std::unique_ptr<Generator> generator_ = NewListenerGenerator();
};

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_LISTENER_FIXTURE_H_
