#ifndef FAIRLEAD_MESH_SNAPSHOT_TEXT_H_
#define FAIRLEAD_MESH_SNAPSHOT_TEXT_H_

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "config/diagnostic.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "mesh/index/mesh_texts.h"
#include "mesh/index/object_index_builder.h"
#include "mesh/index/snapshot.h"
#include "mesh/view/test_scope.h"

// For tests: what a snapshot says, as text; snapshots of equal content have equal texts.
namespace fairlead::mesh {

inline std::string Text(const VirtualServicePtr& v) {
  return StrCat(v->object->ns().str(), "/", v->object->name().str(), " ", v->spec->ShortDebugString(), "\n");
}

inline std::string Text(const std::vector<DestinationRulePtr>& rules) {
  std::string text;
  for (const DestinationRulePtr& rule : rules)
    StrAppend(&text, rule->ns.str(), " ", rule->spec->ShortDebugString(), "; ");
  return text;
}

inline std::string Text(const SidecarScope& scope) {
  const ScopeImports& imports = *scope.imports;
  std::string text =
      StrCat("scope ", imports.ns.str(), " ", imports.object ? imports.object->name().str() : "", "\n");
  for (size_t i = 0; i < imports.egress.size(); ++i) {
    StrAppend(&text, "listener ", Join(Names(imports.egress[i].services), " "), "\n");
    for (const VirtualServicePtr& v : scope.virtual_services[i]) text += Text(v);
  }
  for (const model::ServicePtr& service : imports.services) {
    StrAppend(&text, "service ", Names({service})[0]);
    if (auto it = imports.destination_rules.find(service->hostname); it != imports.destination_rules.end()) {
      StrAppend(&text, " ", Text(it->second));
    }
    text += "\n";
  }
  return text;
}

inline std::string Text(const model::ServiceEndpoints& endpoints) {
  std::string text = StrCat("accounts ", Join(endpoints.service_accounts, ","));
  for (const model::EndpointShard& shard : endpoints.shards) {
    StrAppend(&text, " shard ", int{shard.registry}, " ", shard.cluster.str());
    for (const model::Endpoint& e : shard.endpoints) {
      StrAppend(&text, " ", Join(e.addresses, ","), ":", e.port, "/", e.port_name.str(), " ", e.weight, " ",
                static_cast<int>(e.health), " ", e.workload->ns.str(), "/", e.workload->name.str());
      for (const auto& [key, value] : e.workload->labels) StrAppend(&text, " ", key, "=", value);
    }
  }
  return text;
}

// What does not depend on who asks, and of some namespaces what their workloads see.
inline std::string Text(const MeshSnapshot& snapshot, std::span<const char* const> namespaces) {
  std::string text;
  for (const model::ServicePtr& service : snapshot.services->All()) {
    const auto endpoints = snapshot.endpoints->Find(service->hostname, service->ns);
    StrAppend(&text, Names({service})[0], " ", service->address, " ",
              endpoints == nullptr ? "" : Text(*endpoints), "\n");
    for (const model::ServicePtr& one : service->in_other_clusters)
      StrAppend(&text, "  in ", one->cluster().str(), " ", one->address, "\n");
  }
  for (const VirtualServicePtr& v : snapshot.virtual_services->All()) text += Text(v);
  for (config::Kind kind : ObjectIndexBuilder::Kinds()) {
    for (const config::ConfigPtr& object : snapshot.objects->Of(kind))
      StrAppend(&text, config::Describe(config::KeyOf(*object)), " ", ToHex(object->content_hash()), "\n");
  }
  for (const model::NetworkGateway& gateway : snapshot.networks->All())
    StrAppend(&text, "gateway ", gateway.network.str(), " ", gateway.address, ":", gateway.port, "\n");
  for (const char* ns : namespaces) {
    for (const LabelMap& labels : {LabelMap{}, LabelMap{{"app", "x"}}}) {
      text += Text(*ScopeFor(snapshot, ns, labels));
      const PeerAuthentication policy = snapshot.peer_authentications->ForWorkload(ns, labels);
      StrAppend(&text, "mtls ", static_cast<int>(policy.mode), " ", policy.ports.size(), "\n");
    }
    text += Text(*ScopeFor(snapshot, ns, {}, model::ProxyType::kRouter));
  }
  return text;
}

// In any order.
inline std::string Text(const std::vector<config::Diagnostic>& diagnostics) {
  std::vector<std::string> lines;
  lines.reserve(diagnostics.size());
  for (const config::Diagnostic& d : diagnostics)
    lines.push_back(StrCat(d.code, " ", d.path, " ", d.message));
  std::sort(lines.begin(), lines.end());
  return Join(lines, "\n");
}

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SNAPSHOT_TEXT_H_
