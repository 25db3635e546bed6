#ifndef FAIRLEAD_MESH_MESH_FIXTURE_H_
#define FAIRLEAD_MESH_MESH_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "config/store.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"
#include "istio/security/v1beta1/peer_authentication.pb.h"
#include "mesh/builder.h"
#include "mesh/index/mesh_texts.h"
#include "mesh/view/proxy_scope.h"
#include "mesh/view/test_scope.h"
#include "model/proxy.h"
#include "model/proxy_class.h"
#include "model/registry_output.h"

// For tests: a mesh made by hand, of objects in protobuf text and of services as the registries would find
// them.
namespace fairlead::mesh {

class MeshFixture : public testing::Test {
 protected:
  template <typename Spec>
  config::ConfigPtr Put(config::Kind kind, std::string_view ns, std::string_view name, Spec spec, int age = 0,
                        LabelMap annotations = {}, LabelMap labels = {}) {
    config::ObjectMeta meta;
    meta.name = name;
    meta.ns = ns;
    meta.labels = std::move(labels);
    meta.annotations = std::move(annotations);
    meta.creation_time = 1000 - age;
    meta.cluster = cluster_;
    auto object = std::make_shared<config::ConfigObject>(
        kind, std::move(meta), config::Origin{}, std::make_shared<const Spec>(std::move(spec)), ++hash_);
    Apply({config::KeyOf(*object), object});
    return object;
  }
  // `age` in seconds: greater is older.
  config::ConfigPtr PutVirtualService(std::string_view ns, std::string_view name, const std::string& text,
                                      int age = 0, LabelMap annotations = {}) {
    using istio::networking::v1alpha3::VirtualService;
    return Put(config::Kind::kVirtualService, ns, name, Parse<VirtualService>(text), age,
               std::move(annotations));
  }
  config::ConfigPtr PutDestinationRule(std::string_view ns, std::string_view name, const std::string& text,
                                       int age = 0) {
    using istio::networking::v1alpha3::DestinationRule;
    return Put(config::Kind::kDestinationRule, ns, name, Parse<DestinationRule>(text), age);
  }
  config::ConfigPtr PutSidecar(std::string_view ns, std::string_view name, const std::string& text,
                               int age = 0) {
    return Put(config::Kind::kSidecar, ns, name, Parse<istio::networking::v1alpha3::Sidecar>(text), age);
  }
  config::ConfigPtr PutPeerAuthentication(std::string_view ns, std::string_view name, const std::string& text,
                                          int age = 0) {
    using istio::security::v1beta1::PeerAuthentication;
    return Put(config::Kind::kPeerAuthentication, ns, name, Parse<PeerAuthentication>(text), age);
  }
  void Remove(config::Kind kind, std::string_view ns, std::string_view name) {
    Apply({{kind, ns, name}, nullptr});
  }
  void Apply(config::ObjectChange change) { store_.Apply(std::span(&change, 1)); }

  // A Kubernetes service "<name>.<ns>.svc.cluster.local" with HTTP ports that lead to the same numbers.
  std::shared_ptr<model::Service> AddService(std::string_view ns, std::string_view name,
                                             const std::vector<uint32_t>& ports, LabelMap selector = {}) {
    config::ServiceSpec spec;
    spec.selector = selector;
    for (uint32_t port : ports) {
      config::ServicePortSpec& of_spec = spec.ports.emplace_back();
      of_spec.name = StrCat("http-", port);
      of_spec.port = of_spec.target_port.number = static_cast<int>(port);
    }
    auto service = Make(StrCat(name, ".", ns, ".svc.cluster.local"), ns, ports);
    service->name = name;
    service->selector = std::move(selector);
    service->source = Put(config::Kind::kService, ns, name, std::move(spec));
    return service;
  }
  // A service of a ServiceEntry.
  std::shared_ptr<model::Service> AddExternal(std::string_view ns, std::string_view host,
                                              const std::vector<uint32_t>& ports, int age = 0) {
    auto service = Make(host, ns, ports);
    service->registry = model::Registry::kExternal;
    service->name = host;
    service->creation_time -= age;
    return service;
  }
  void ExportTo(const std::shared_ptr<model::Service>& service,
                std::set<std::string, std::less<>> namespaces) {
    service->visibility = {.everywhere = false, .namespaces = std::move(namespaces)};
  }
  void ReplaceService(model::ServicePtr old, model::ServicePtr now) {
    std::replace(services_.begin(), services_.end(), old, now);
    registry_.services.Erase(old);
    registry_.services.Insert(now);
    registry_.changes.services.push_back({std::move(old), std::move(now)});
  }
  void AddMadeService(const model::ServicePtr& service) {
    services_.push_back(service);
    registry_.services.Insert(service);
    registry_.changes.services.push_back({nullptr, service});
  }
  void RemoveService(model::ServicePtr service) {
    std::erase(services_, service);
    registry_.services.Erase(service);
    registry_.changes.services.push_back({std::move(service), nullptr});
  }

  // A pod; its only container has the given named ports.
  void AddPod(std::string_view ns, std::string_view name, std::string_view ip, const LabelMap& labels,
              const std::vector<std::pair<std::string, int>>& ports = {},
              const model::Locality& locality = {}) {
    config::PodSpec spec;
    spec.pod_ip = ip;
    for (const auto& [port_name, number] : ports) spec.ports.push_back({port_name, number, "TCP"});
    AddWorkload(Put(config::Kind::kPod, ns, name, std::move(spec), 0, {}, labels), ip, labels, locality);
  }
  void AddWorkload(const config::ConfigPtr& source, std::string_view ip, LabelMap labels,
                   const model::Locality& locality = {}) {
    model::Workload workload;
    workload.name = source->name();
    workload.ns = source->ns();
    workload.labels = std::move(labels);
    workload.SetLocality(locality.ToString());
    model::WorkloadInstance instance;
    instance.workload = std::make_shared<const model::Workload>(std::move(workload));
    instance.name = source->name();
    instance.addresses = {std::string(ip)};
    instance.sources = {source};
    workloads_.push_back(std::make_shared<const model::WorkloadInstance>(std::move(instance)));
    registry_.workloads.Insert(workloads_.back());
    registry_.changes.workloads.push_back({nullptr, workloads_.back()});
  }
  model::ProxyPtr MakeProxy(std::string_view ns, std::string_view name, std::string_view ip) {
    auto proxy = std::make_shared<model::Proxy>();
    proxy->id = StrCat(name, ".", ns);
    proxy->ns = proxy->metadata.ns = ns;
    proxy->ip_addresses = {std::string(ip)};
    proxy->metadata.cluster_id = settings_.cluster_id;
    proxy->proxy_class = model::ClassOf(*proxy);
    return proxy;
  }

  // Changes to settings_ take effect with SetSettings.
  void SetSettings() { builder_.SetSettings(std::make_shared<model::Settings>(settings_)); }
  istio::mesh::v1alpha1::MeshConfig& NewMeshConfig() {
    auto mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>(*settings_.mesh);
    settings_.mesh = mesh;
    return *mesh;
  }
  SnapshotPtr Build() {
    SnapshotPtr snapshot = builder_.Build(store_, registry_);
    registry_.changes = {};
    return snapshot;
  }

  Interned cluster_;  // of what is put from now on, as in config::ObjectMeta
  config::ObjectStore store_;
  model::RegistryOutput registry_;
  // In the order of their adding.
  std::vector<model::ServicePtr> services_;
  std::vector<std::shared_ptr<const model::WorkloadInstance>> workloads_;
  model::Settings settings_ = DefaultSettings();
  SnapshotBuilder builder_{std::make_shared<model::Settings>(settings_)};

 private:
  static model::Settings DefaultSettings() {
    model::Settings settings;
    auto mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
    mesh->mutable_outbound_traffic_policy()->set_mode(
        istio::mesh::v1alpha1::MeshConfig::OutboundTrafficPolicy::ALLOW_ANY);
    settings.mesh = std::move(mesh);
    settings.networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
    return settings;
  }
  std::shared_ptr<model::Service> Make(std::string_view host, std::string_view ns,
                                       const std::vector<uint32_t>& ports) {
    auto service = std::make_shared<model::Service>();
    service->hostname = host;
    service->ns = ns;
    service->creation_time = 1000;
    for (uint32_t port : ports) {
      model::ServicePort& added = service->ports.emplace_back();
      added.name = StrCat("http-", port);
      added.port = added.target_port = port;
      added.protocol = model::Protocol::kHttp;
    }
    AddMadeService(service);
    return service;
  }

  uint64_t hash_ = 0;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_MESH_FIXTURE_H_
