#include "registry/serviceentry/workload_entry.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/go_bool.h"
#include "base/ip_address.h"
#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"
#include "model/spiffe.h"
#include "model/workload_labels.h"

namespace fairlead::registry {
namespace {

using istio::networking::v1alpha3::ServiceEntry;
using istio::networking::v1alpha3::WorkloadEntry;

// Without the label, an entry that has an identity is taken to have a sidecar that can prove it.
std::string_view TlsModeOf(const LabelMap& labels, const WorkloadEntry& entry) {
  return LabelOr(labels, model::kTlsModeLabel, entry.service_account().empty() ? "disabled" : "istio");
}

struct Where {
  Interned cluster, network;
};

// Unlike a pod's, the locality of an entry that has none of its own comes from a label.
SelectableWorkload Make(const WorkloadEntry& entry, const LabelMap& labels, std::string_view ns,
                        std::string_view name, std::string_view workload_name, const Where& where,
                        const model::Settings& settings) {
  model::Workload workload;
  workload.name = workload_name;
  workload.ns = ns;
  if (!entry.service_account().empty()) {
    workload.service_account = model::SpiffeId(settings.trust_domain, ns, entry.service_account());
  }
  workload.SetLocality(entry.locality().empty() ? model::LocalityLabelOf(labels) : entry.locality());
  workload.network = where.network;
  workload.cluster = where.cluster;
  workload.tls_mode = TlsModeOf(labels, entry);
  workload.labels = model::WithTopologyLabels(labels, where.cluster, workload.locality, "", where.network);

  SelectableWorkload out;
  out.name = name;
  out.workload = std::make_shared<const model::Workload>(std::move(workload));
  out.address = entry.address();
  out.ports.insert(entry.ports().begin(), entry.ports().end());
  out.weight = entry.weight();
  out.dns_only = !out.address.empty() && !IsIpAddress(out.address);
  return out;
}

}  // namespace

bool IsHealthy(const config::ConfigObject& workload_entry) {
  if (!ParseGoBool(LabelOr(workload_entry.meta().annotations, "proxy.istio.io/health-checks-enabled"))
           .value_or(false))
    return true;
  if (workload_entry.status() == nullptr) return false;
  const auto& conditions = workload_entry.status()->conditions;
  const auto it = std::find_if(conditions.begin(), conditions.end(),
                               [](const config::ObjectStatus::Condition& c) { return c.type == "Healthy"; });
  return it != conditions.end() && it->status == "True";
}

SelectableWorkload FromWorkloadEntry(const config::ConfigObject& workload_entry, const MeshFacts& facts) {
  const auto& entry = workload_entry.Spec<WorkloadEntry>();
  const config::ObjectMeta& meta = workload_entry.meta();
  LabelMap labels = meta.labels;
  labels.insert(entry.labels().begin(), entry.labels().end());  // keeps those of the metadata
  std::string_view workload_name = meta.name;
  if (const auto label = meta.labels.find("service.istio.io/workload-name"); label != meta.labels.end()) {
    workload_name = label->second;
  }
  if (const auto group = meta.annotations.find("istio.io/autoRegistrationGroup");
      group != meta.annotations.end()) {
    workload_name = group->second;
  }
  Where where{facts.cluster, Interned(entry.network())};
  if (where.network.empty() && !facts.object_cluster.empty())
    where.network = facts.networks.NetworkOf(Interned(entry.address()), labels);
  return Make(entry, labels, meta.ns, meta.name, workload_name, where, *facts.settings);
}

SelectableWorkload FromInlineEndpoint(const config::ConfigObject& service_entry, int index,
                                      const model::Settings& settings) {
  const WorkloadEntry& entry = service_entry.Spec<ServiceEntry>().endpoints(index);
  const std::string name = StrCat(service_entry.name().str(), "-", index);
  return Make(entry, {entry.labels().begin(), entry.labels().end()}, service_entry.ns(), name, name,
              {Interned(settings.cluster_id), Interned(entry.network())}, settings);
}

}  // namespace fairlead::registry
