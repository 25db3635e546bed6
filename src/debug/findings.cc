#include "debug/findings.h"

#include <array>
#include <set>
#include <utility>

#include "base/label_values.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "push/stream/pusher.h"

namespace fairlead::debug {
namespace {

constexpr std::string_view kRejected = "pilot_total_rejected_configs";

struct Counted {
  std::string_view metric, help;
};
constexpr Counted kCounted[] = {
    {"pilot_eds_no_instances", "Clusters without instances."},
    {"pilot_dns_cluster_without_endpoints", "Clusters of DNS names without endpoints."},
    {"pilot_endpoint_not_ready", "Endpoints found in unready state."},
    {"pilot_vservice_dup_domain", "Hosts that several VirtualServices of sidecars are for."},
    {"pilot_destrule_subsets", "Duplicate subsets of DestinationRules for one host."},
    {"pilot_duplicate_envoy_clusters", "Clusters that several services of one host would give."},
    {"pilot_conflict_inbound_listener", "Proxies at which two services claim a port for two protocols."},
    {"pilot_conflict_outbound_listener_tcp_over_current_tcp",
     "TCP services without addresses of their own that share a port."},
};

// What is kept for a part, else what `find` finds in it.
template <typename Memory, typename PartPtr, typename Find>
void AddFindings(const PartPtr& part, const Find& find, const Memory& before, Memory* now,
                 std::vector<Finding>* all) {
  if (part == nullptr || now->contains(part)) return;
  const auto known = before.find(part);
  const auto& found = now->emplace(part, known == before.end() ? find(*part) : known->second).first->second;
  all->insert(all->end(), found.begin(), found.end());
}

void AddDuplicateSubsets(const Sources& sources, std::vector<Finding>* all) {
  const push::DiagnosticList diagnostics = sources.diagnostics();
  for (const config::Diagnostic& one : *diagnostics) {
    if (one.code != "duplicate-subset") continue;
    all->push_back({"pilot_destrule_subsets",
                    StrCat(one.object ? Describe(*one.object) : one.file, " ", one.path), one.message});
  }
}

}  // namespace

std::vector<Finding> Findings::Find(const Sources& sources) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return {};
  std::vector<Finding> all;
  std::lock_guard lock(mutex_);
  Memory<mesh::MeshSnapshot> of_mesh;
  Memory<mesh::SidecarScope> of_scopes, of_scopes_with_dns;
  Memory<mesh::MergedGateway> of_gateways;
  AddFindings(snapshot, FindInMesh, of_mesh_, &of_mesh, &all);
  for (const push::StreamReport& report : sources.pusher->Report()) {
    const bool dns = report.scope->proxy->metadata.dns_capture;
    AddFindings(
        report.scope->sidecar, [dns](const mesh::SidecarScope& scope) { return FindInScope(scope, dns); },
        dns ? of_scopes_with_dns_ : of_scopes_, dns ? &of_scopes_with_dns : &of_scopes, &all);
    AddFindings(report.scope->gateways, FindInGateways, of_gateways_, &of_gateways, &all);
    for (Finding& finding : FindInTargets(*report.scope)) all.push_back(std::move(finding));
  }
  of_mesh_ = std::move(of_mesh);
  of_scopes_ = std::move(of_scopes);
  of_scopes_with_dns_ = std::move(of_scopes_with_dns);
  of_gateways_ = std::move(of_gateways);
  AddDuplicateSubsets(sources, &all);
  return all;
}

void UpdateFindingMetrics(const Sources& sources) {
  static auto* names = new metrics::LabelValues(2000, 256);
  static auto* rejected_before = new std::set<std::string>;
  static std::mutex mutex;
  std::map<std::string, std::set<std::string>, std::less<>> ids;
  std::map<std::string, double> rejected;
  for (const Finding& finding : sources.findings->Find(sources)) {
    ids[finding.metric].insert(finding.id);
    if (finding.metric == kRejected) ++rejected[names->Of(finding.id.substr(0, finding.id.find(' ')))];
  }
  for (const auto& [metric, help] : kCounted)
    metrics::GetGauge(metric, help).Set(static_cast<double>(ids[std::string(metric)].size()));
  std::lock_guard lock(mutex);
  const auto set = [](const std::string& name, double value) {
    metrics::GetGauge(kRejected, "Servers of Gateways that conflict with others and are left out.",
                      {{"type", "gateway"}, {"name", name}})
        .Set(value);
  };
  set("", 0);  // there is always one
  for (const std::string& name : *rejected_before) {
    if (!rejected.contains(name)) set(name, 0);
  }
  for (const auto& [name, count] : rejected) {
    set(name, count);
    rejected_before->insert(name);
  }
}

}  // namespace fairlead::debug
