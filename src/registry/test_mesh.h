#ifndef FAIRLEAD_REGISTRY_TEST_MESH_H_
#define FAIRLEAD_REGISTRY_TEST_MESH_H_

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "config/read/no_effect.h"
#include "config/store.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "registry/registry.h"

namespace fairlead::registry {

// A mesh for tests: takes manifests, applies them to registries and says in short text what came out.
class TestMesh {
 public:
  TestMesh() { SetSettings("{}", "{}"); }

  // Parses manifests of a cluster (see config::ObjectMeta) and applies their objects, all at once.
  const model::RegistryOutput& Apply(std::string_view yaml, std::string_view cluster = "") {
    return Apply(Parse(yaml, cluster));
  }
  const model::RegistryOutput& Apply(std::vector<config::ObjectChange> changes) {
    const std::vector<config::ObjectChange> effective = store_.Apply(changes);
    return output_ = &registries_.Apply(store_, effective, settings_), *output_;
  }
  const model::RegistryOutput& Delete(config::Kind kind, std::string_view ns, std::string_view name,
                                      std::string_view cluster = "") {
    return Apply({{{kind, ns, name, cluster}, nullptr}});
  }
  // MeshConfig and MeshNetworks as JSON; applied with the next Apply.
  void SetSettings(const std::string& mesh_json, const std::string& networks_json) {
    auto mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
    auto networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(mesh_json, mesh.get()).ok());
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(networks_json, networks.get()).ok());
    auto settings = std::make_shared<model::Settings>();
    settings->mesh = std::move(mesh);
    settings->networks = std::move(networks);
    settings_ = std::move(settings);
  }

  void SetSettings(model::SettingsPtr settings) { settings_ = std::move(settings); }

  static std::vector<config::ObjectChange> Parse(std::string_view yaml, std::string_view cluster = "") {
    // As an API server may hold them: also such as would not be admitted today.
    const config::ParseResult result = config::ParseManifests(yaml, "test.yaml", config::Admission::kPassed,
                                                              config::Documents::kDropped, cluster);
    for (const config::Diagnostic& d : result.diagnostics) {
      if (d.code != config::kNoEffectCode) ADD_FAILURE() << config::ToText(d);
    }
    std::vector<config::ObjectChange> changes;
    changes.reserve(result.objects.size());
    for (const config::ConfigPtr& object : result.objects)
      changes.push_back({config::KeyOf(*object), object});
    return changes;
  }

  const model::RegistryOutput& output() const { return *output_; }
  const config::ObjectStore& store() const { return store_; }

  // The service of a host in a namespace ("" for any); null where there is none.
  model::ServicePtr Service(std::string_view host, std::string_view ns = "") const {
    for (const model::ServicePtr& service : output_->services) {
      if (service->hostname == host && (ns.empty() || service->ns == ns)) return service;
    }
    return nullptr;
  }
  model::ServiceEndpointsPtr Shards(std::string_view host, std::string_view ns = "default") const {
    const model::ServiceEndpointsPtr* endpoints = output_->endpoints.Find(model::ServiceKey{host, ns});
    return endpoints == nullptr ? nullptr : *endpoints;
  }
  std::vector<model::Endpoint> Endpoints(std::string_view host, std::string_view ns = "default") const {
    std::vector<model::Endpoint> all;
    const model::ServiceEndpointsPtr shards = Shards(host, ns);
    if (shards == nullptr) return all;
    for (const model::EndpointShard& shard : shards->shards) {
      all.insert(all.end(), shard.endpoints.begin(), shard.endpoints.end());
    }
    return all;
  }
  // "10.0.0.1:8080 10.0.0.2:8080", in their order.
  std::string Addresses(std::string_view host, std::string_view ns = "default") const {
    std::vector<std::string> texts;
    for (const model::Endpoint& endpoint : Endpoints(host, ns)) {
      texts.push_back(StrCat(endpoint.addresses[0].str(), ":", endpoint.port));
    }
    return Join(texts, " ");
  }
  std::vector<std::string> DiagnosticCodes() const {
    std::vector<std::string> codes;
    codes.reserve(output_->diagnostics.size());
    for (const config::Diagnostic& diagnostic : output_->diagnostics) codes.push_back(diagnostic.code);
    return codes;
  }

 private:
  config::ObjectStore store_;
  Registries registries_;
  model::SettingsPtr settings_;
  const model::RegistryOutput* output_ = nullptr;
};

inline std::string ToText(const model::Workload& w) {
  std::string text =
      StrCat(w.name.str(), "/", w.ns.str(), " sa=", w.service_account.str(), " at=", w.locality.ToString(),
             " net=", w.network.str(), " tls=", w.tls_mode.str(), " node=", w.node_name.str(),
             " dns=", w.hostname.str(), ".", w.subdomain.str());
  for (const auto& [key, value] : w.labels) StrAppend(&text, " ", key, "=", value);
  return text;
}

inline std::string ToText(const model::Service& s) {
  std::string text =
      StrCat("service ", s.hostname.str(), " ", s.ns.str(), " ", s.address, " auto=", s.auto_allocated_ipv4,
             ",", s.auto_allocated_ipv6, " resolution=", static_cast<int>(s.resolution),
             " external=", static_cast<int>(s.mesh_external), " from=", s.source->name().str(),
             " vips=", Join(s.cluster_vips, ","), " sans=", Join(s.service_accounts, ","),
             " to=", s.visibility.everywhere ? "*" : "", Join(s.visibility.namespaces, ","),
             " ext=", Join(s.external_addresses, ","));
  for (const model::ServicePort& port : s.ports) {
    StrAppend(&text, " ", port.name, ":", port.port, "/", model::ToString(port.protocol), ">",
              port.target_port, port.target_port_name);
  }
  for (const model::NamespacedHost& alias : s.aliases)
    StrAppend(&text, " alias=", alias.ns, "/", alias.hostname);
  if (!s.cluster().empty()) StrAppend(&text, " of=", s.cluster().str());
  for (const model::ServicePtr& one : s.in_other_clusters)
    StrAppend(&text, " elsewhere={", ToText(*one), "}");
  return text;
}

// All of an output but its changes, as text that does not depend on the order of what has none.
inline std::string ToText(const model::RegistryOutput& output) {
  std::vector<std::string> lines;
  lines.reserve(output.services.size());
  for (const auto& service : output.services) lines.push_back(ToText(*service));
  for (const auto& [key, shards] : output.endpoints) {
    std::string text = StrCat("endpoints ", key.first.str(), " ", key.second.str(),
                              " sans=", Join(shards->service_accounts, ","));
    for (const model::EndpointShard& shard : shards->shards) {
      StrAppend(&text, "\n  shard ", int{shard.registry}, " ", shard.cluster.str());
      for (const model::Endpoint& e : shard.endpoints) {
        StrAppend(&text, "\n    ", Join(e.addresses, ","), ":", e.port, " ", e.port_name.str(), "/",
                  e.service_port, " weight=", e.weight, " health=", static_cast<int>(e.health),
                  e.own_cluster_only ? " here " : " ", ToText(*e.workload));
      }
    }
    lines.push_back(std::move(text));
  }
  for (const auto& workload : output.workloads) {
    lines.push_back(StrCat("workload ", workload->name.str(), " ", Join(workload->addresses, ","),
                           " of=", workload->workload->cluster.str(),
                           " ready=", static_cast<int>(workload->ready), " ", ToText(*workload->workload)));
  }
  for (const auto& [address, targets] : output.external_targets) {
    std::string text = StrCat("targets ", address.str());
    for (const model::ExternalTarget& t : *targets) {
      StrAppend(&text, " ", t.service->hostname.str(), "@", t.service->address, ":", t.port->port, ">",
                t.target_port);
    }
    lines.push_back(std::move(text));
  }
  for (const model::NetworkGateway& gateway : output.network_gateways) {
    lines.push_back(StrCat("gateway ", gateway.network.str(), " ", gateway.cluster.str(), " ",
                           gateway.address, ":", gateway.port, " hbone=", gateway.hbone_port));
  }
  for (const config::Diagnostic& diagnostic : output.diagnostics) {
    lines.push_back(StrCat("diagnostic ", config::ToText(diagnostic)));
  }
  std::sort(lines.begin(), lines.end());
  return Join(lines, "\n");
}

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_TEST_MESH_H_
