#include "base/strings.h"
#include "debug/findings.h"
#include "debug/object_json.h"
#include "debug/page_json.h"
#include "debug/tables.h"
#include "mesh/index/policy_index.h"
#include "push/stream/pusher.h"

// Policies, networks, and what is wrong.
namespace fairlead::debug {
namespace {

using config::Kind;

// {"namespaceTo…": {NAMESPACE: [OBJECT]}, "rootNamespace": NAMESPACE}, as istiod keeps them.
Json ByNamespace(const mesh::MeshSnapshot& snapshot, Kind kind, const char* key, const std::string& only) {
  std::map<std::string, Json> by_namespace;
  for (const auto& [ns, part] : snapshot.policies->All(kind)) {
    if (!only.empty() && ns != only) continue;
    Json list = Json::array();
    for (const mesh::Policy& policy : part->policies) list.push_back(ObjectJson(*policy.object));
    by_namespace[ns] = std::move(list);
  }
  return {{key, by_namespace}, {"rootNamespace", snapshot.settings->root_namespace}};
}

Json PoliciesJson(const mesh::MeshSnapshot& snapshot, const std::string& only) {
  return ByNamespace(snapshot, Kind::kAuthorizationPolicy, "namespaceToPolicies", only);
}

Json NetworksJson(const mesh::MeshSnapshot& snapshot) {
  Json out = Json::array();
  for (const model::NetworkGateway& gateway : snapshot.networks->All()) {
    out.push_back({{"Network", gateway.network.str()},
                   {"Cluster", gateway.cluster.str()},
                   {"Addr", gateway.address},
                   {"Port", gateway.port},
                   {"HBONEPort", gateway.hbone_port}});
  }
  return out;
}

Json DiagnosticJson(const config::Diagnostic& one) {
  Json out = {{"severity", one.severity == config::Severity::kError ? "error" : "warning"},
              {"code", one.code},
              {"file", one.file},
              {"line", one.line}};
  if (one.object) {
    out["kind"] = config::InfoOf(one.object->kind).name;
    out["namespace"] = one.object->ns.str();
    out["name"] = one.object->name.str();
    if (!one.object->cluster.empty()) out["cluster"] = one.object->cluster.str();
  }
  out["path"] = one.path;
  out["message"] = one.message;
  if (!one.details.empty()) out["details"] = one.details;
  return out;
}

}  // namespace

Page DiagnosticsPage(const Sources& sources, const Query& query) {
  const std::string severity = Value(query, "severity"), ns = Value(query, "namespace");
  Json out = Json::array();
  const push::DiagnosticList diagnostics = sources.diagnostics();
  for (const config::Diagnostic& one : *diagnostics) {
    Json json = DiagnosticJson(one);
    if (!severity.empty() && json["severity"] != severity) continue;
    if (!ns.empty() && (!one.object || one.object->ns.str() != ns)) continue;
    out.push_back(std::move(json));
  }
  return JsonPage(out, query);
}

Page PushStatusPage(const Sources& sources, const Query& query) {
  if (sources.pusher->Snapshot() == nullptr) return NothingYet();
  Json out = Json::object();
  for (const Finding& finding : sources.findings->Find(sources)) {
    Json& one = out[finding.metric][finding.id] = Json::object();
    if (!finding.message.empty()) one["message"] = finding.message;
  }
  return JsonPage(out, query);
}

Page AuthorizationPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return NothingYet();
  const Json policies = PoliciesJson(*snapshot, Value(query, "namespace"));
  return JsonPage({{"authorization_policies", policies}}, query);
}

// Of one proxy those that hold for it, in the order in which they count.
Page TelemetryPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return NothingYet();
  if (Value(query, "proxyID").empty()) {
    const Json all =
        ByNamespace(*snapshot, Kind::kTelemetry, "namespaceToTelemetries", Value(query, "namespace"));
    return JsonPage({{"telemetries", all}}, query);
  }
  const auto report = FindConnection(sources, query);
  if (!report) return NotConnected();
  Json selected = Json::array();
  const mesh::PolicySubject subject{
      .ns = report->scope->proxy->ns,
      .labels = report->scope->labels,
      .selectors_of_gateways = snapshot->settings->features.selectors_of_gateways};
  for (const config::ConfigPtr& one : snapshot->policies->Select(Kind::kTelemetry, subject))
    selected.push_back(ObjectJson(*one));
  return JsonPage({{"proxy", report->scope->proxy->id}, {"telemetries", selected}}, query);
}

Page PushContextPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return NothingYet();
  return JsonPage({{"Revision", snapshot->revision},
                   {"Services", snapshot->services->All().size()},
                   {"VirtualServices", snapshot->virtual_services->All().size()},
                   {"AuthorizationPolicies", PoliciesJson(*snapshot, "")},
                   {"NetworkGateways", NetworksJson(*snapshot)},
                   {"UnresolvedGateways", Json::array()}},
                  query);
}

Page NetworksPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  return snapshot == nullptr ? NothingYet() : JsonPage(NetworksJson(*snapshot), query);
}

// The own one first.
Page ClustersPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  const std::string status = snapshot == nullptr ? "syncing" : "synced";
  Json clusters = Json::array({{{"id", snapshot == nullptr ? "" : snapshot->settings->cluster_id},
                                {"secretName", ""},
                                {"syncStatus", status}}});
  if (sources.other_clusters != nullptr) {
    for (const source::RemoteClusters::State& one : sources.other_clusters())
      clusters.push_back({{"id", one.id}, {"secretName", one.secret}, {"syncStatus", one.status}});
  }
  return JsonPage(std::move(clusters), query);
}

Page InjectPage(const Sources&, const Query&) {
  return TextPage(404,
                  "This version injects no sidecars: there is no template. `fairlead agent` runs one.\n");
}

Page AmbientPage(const Sources&, const Query&) {
  return TextPage(
      404, "This version serves sidecars and gateways, no ztunnels: there are no ambient workloads.\n");
}

}  // namespace fairlead::debug
