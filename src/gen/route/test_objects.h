#ifndef FAIRLEAD_GEN_ROUTE_TEST_OBJECTS_H_
#define FAIRLEAD_GEN_ROUTE_TEST_OBJECTS_H_

#include <google/protobuf/text_format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "mesh/index/policy_index.h"
#include "mesh/index/routing_objects.h"
#include "mesh/index/snapshot.h"
#include "mesh/view/proxy_scope.h"
#include "model/proxy_class.h"
#include "model/service.h"
#include "model/settings.h"

// Objects for the tests and benchmarks of this folder, messages written as protobuf text.
namespace fairlead::gen::route {

template <typename Message>
Message FromText(std::string_view text) {
  Message message;
  if (!google::protobuf::TextFormat::ParseFromString(std::string(text), &message)) {
    std::fprintf(stderr, "not a %s: %.*s\n", message.GetTypeName().c_str(), static_cast<int>(text.size()),
                 text.data());
    std::abort();
  }
  return message;
}

inline mesh::VirtualServicePtr TestVirtualService(std::string_view name, std::string_view spec,
                                                  LabelMap annotations = {}) {
  auto out = std::make_shared<mesh::VirtualService>();
  auto message = std::make_shared<istio::networking::v1alpha3::VirtualService>(
      FromText<istio::networking::v1alpha3::VirtualService>(spec));
  config::ObjectMeta meta;
  meta.name = name;
  meta.ns = "default";
  meta.annotations = std::move(annotations);
  out->object = std::make_shared<config::ConfigObject>(config::Kind::kVirtualService, std::move(meta),
                                                       config::Origin(), message, 0);
  out->spec = message;
  out->gateways = {"mesh"};
  return out;
}

inline mesh::DestinationRulePtr TestDestinationRule(std::string_view spec) {
  auto out = std::make_shared<mesh::DestinationRule>();
  out->spec = std::make_shared<istio::networking::v1alpha3::DestinationRule>(
      FromText<istio::networking::v1alpha3::DestinationRule>(spec));
  return out;
}

// A Kubernetes service with a virtual IP and one HTTP port.
inline std::shared_ptr<model::Service> TestService(std::string_view hostname, std::string_view ip,
                                                   uint32_t port = 80) {
  auto out = std::make_shared<model::Service>();
  out->hostname = hostname;
  out->name = hostname.substr(0, hostname.find('.'));
  out->ns = "default";
  out->address = ip.empty() ? std::string("0.0.0.0") : std::string(ip);
  if (!ip.empty()) out->cluster_vips = {std::string(ip)};
  out->ports.push_back({"http", port, model::Protocol::kHttp, port, "", 0});
  return out;
}

inline model::SettingsPtr TestSettings(std::string_view mesh_config = "") {
  auto out = std::make_shared<model::Settings>();
  out->mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>(
      FromText<istio::mesh::v1alpha1::MeshConfig>(mesh_config));
  return out;
}

// A client of one egress listener, made by hand.
struct TestClient {
  TestClient() {
    imports->ns = "default";
    imports->outbound_traffic_policy = std::make_shared<istio::networking::v1alpha3::OutboundTrafficPolicy>();
    imports->egress.emplace_back();
    virtual_services.emplace_back();
    snapshot.settings = TestSettings();
    snapshot.policies = std::make_shared<mesh::PolicyIndex>();
    proxy.ns = "default";
    proxy.supports_ipv4 = true;
    labels = {{"app", "client"}};
  }
  // The client as it now is.
  mesh::ProxyScope Scope() const {
    mesh::ProxyScope scope;
    auto of_client = std::make_shared<model::Proxy>(proxy);
    of_client->proxy_class = model::ClassOf(*of_client);
    scope.proxy = std::move(of_client);
    scope.labels = labels;
    scope.sidecar_key = "default";
    scope.sidecar = std::make_shared<mesh::SidecarScope>(mesh::SidecarScope{imports, virtual_services});
    return scope;
  }
  void AddService(const model::ServicePtr& service) {
    imports->egress.back().services.push_back(service);
    imports->services_by_host[service->hostname.str()] = service;
  }

  std::shared_ptr<mesh::ScopeImports> imports = std::make_shared<mesh::ScopeImports>();
  std::vector<std::vector<mesh::VirtualServicePtr>> virtual_services;
  mesh::MeshSnapshot snapshot;
  model::Proxy proxy;
  LabelMap labels;
};

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_TEST_OBJECTS_H_
