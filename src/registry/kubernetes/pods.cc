#include "registry/kubernetes/pods.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "model/spiffe.h"
#include "model/workload_labels.h"
#include "registry/kubernetes/workload_name.h"

namespace fairlead::registry {
namespace {

using config::ConfigObject;
using config::PodSpec;

// The label's value, or where it is missing or empty that of the label's older name.
std::string_view LabelOrOlder(const LabelMap& labels, std::string_view key, std::string_view older) {
  const std::string_view value = LabelOr(labels, key);
  return value.empty() ? LabelOr(labels, older) : value;
}

// "region/zone/subzone", with all slashes whatever is missing; "" where all is.
std::string LocalityLabelOfNode(std::string_view name, const config::ObjectStore& store,
                                const Interned& cluster) {
  const config::ConfigPtr node = store.Find(config::Kind::kNode, "", Interned(name), cluster);
  if (node == nullptr) return "";
  const LabelMap& labels = node->meta().labels;
  const std::string label =
      StrCat(LabelOrOlder(labels, model::kRegionLabel, "failure-domain.beta.kubernetes.io/region"), "/",
             LabelOrOlder(labels, model::kZoneLabel, "failure-domain.beta.kubernetes.io/zone"), "/",
             LabelOr(labels, model::kSubzoneLabel));
  return label == "//" ? "" : label;
}

model::Workload MakeWorkload(const ConfigObject& pod, const config::ObjectStore& store,
                             const MeshFacts& facts) {
  const PodSpec& spec = pod.Spec<PodSpec>();
  const model::Settings& settings = *facts.settings;
  model::Workload workload;
  workload.name = WorkloadNameOfPod(pod.meta());
  workload.ns = pod.ns();
  workload.service_account = model::SpiffeId(settings.trust_domain, pod.ns().str(), spec.service_account);
  const std::string own = model::LocalityLabelOf(pod.meta().labels);
  workload.SetLocality(own.empty() ? LocalityLabelOfNode(spec.node_name, store, facts.object_cluster) : own);
  workload.network = facts.networks.NetworkOf(spec.pod_ip, pod.meta().labels);
  workload.cluster = facts.cluster;
  workload.tls_mode = LabelOr(pod.meta().labels, model::kTlsModeLabel, "disabled");
  workload.node_name = spec.node_name;
  if (!spec.subdomain.empty()) {
    workload.subdomain = spec.subdomain;
    workload.hostname = spec.hostname.empty() ? pod.name() : Interned(spec.hostname);
  }
  workload.labels = model::WithTopologyLabels(pod.meta().labels, facts.cluster.str(), workload.locality,
                                              spec.node_name, workload.network);
  return workload;
}

bool IsFinished(const PodSpec& spec) { return spec.phase == "Failed" || spec.phase == "Succeeded"; }

// Whether selectors and addresses find the pod: it is ready and neither finished nor about to go.
bool IsSelectable(const ConfigObject& pod) {
  const PodSpec& spec = pod.Spec<PodSpec>();
  return spec.ready && !spec.pod_ip.empty() && !IsFinished(spec) && !pod.meta().deleting;
}

SelectableWorkload MakeSelectable(const ConfigObject& pod, const model::WorkloadPtr& workload,
                                  bool dual_stack) {
  const PodSpec& spec = pod.Spec<PodSpec>();
  SelectableWorkload out;
  out.is_pod = true;
  out.name = pod.name();
  out.workload = workload;
  out.address = spec.pod_ip;
  if (dual_stack && spec.pod_ips.size() > 1) {
    out.address = spec.pod_ips.front();
    out.more_addresses.assign(spec.pod_ips.begin() + 1, spec.pod_ips.end());
  }
  out.health = model::Health::kHealthy;
  for (const config::ContainerPortSpec& port : spec.ports) {
    // Of two ports with one name the first counts, as in Kubernetes.
    if (!port.name.empty() && port.protocol == "TCP") out.ports.emplace(port.name, port.container_port);
  }
  return out;
}

WorkloadInstancePtr MakeInstance(const config::ConfigPtr& pod, const PodRecord& old,
                                 const model::WorkloadPtr& workload) {
  const PodSpec& spec = pod->Spec<PodSpec>();
  if (spec.pod_ip.empty() && spec.pod_ips.empty()) return nullptr;
  if (old.instance != nullptr && old.object == pod && old.workload == workload) return old.instance;
  model::WorkloadInstance instance;
  instance.workload = workload;
  instance.name = pod->name();
  instance.addresses = spec.pod_ips.empty() ? std::vector<std::string>{spec.pod_ip} : spec.pod_ips;
  instance.sources = {pod};
  instance.ready = spec.ready;
  instance.host_network = spec.host_network;
  return std::make_shared<const model::WorkloadInstance>(std::move(instance));
}

}  // namespace

PodIndex::Change PodIndex::Update(const Name& name, const config::ConfigPtr& object,
                                  const config::ObjectStore& store, const MeshFacts& facts) {
  Change change;
  if (const PodRecord* before = pods_.Find(name)) {
    change.before = *before;
    pods_.Erase(name);
    Unlink(name, change.before);
  }
  // A failed pod is one that an API server's list would leave out.
  if (object == nullptr || object->Spec<PodSpec>().phase == "Failed") return change;
  PodRecord& record = change.after;
  record.object = object;
  record.workload = KeepIfEqual(change.before.workload, MakeWorkload(*object, store, facts));
  record.instance = MakeInstance(object, change.before, record.workload);
  if (IsSelectable(*object)) {
    const bool dual_stack = facts.settings->features.dual_stack;
    record.selectable =
        KeepIfEqual(change.before.selectable, MakeSelectable(*object, record.workload, dual_stack));
  }
  Link(name, record);
  pods_[name] = record;
  return change;
}

void PodIndex::Link(const Name& name, const PodRecord& record) {
  const PodSpec& spec = record.object->Spec<PodSpec>();
  if (!spec.node_name.empty()) by_node_[spec.node_name].Insert(name);
  if (record.selectable != nullptr) ready_by_address_[spec.pod_ip].push_back(name);
}

void PodIndex::Unlink(const Name& name, const PodRecord& record) {
  const PodSpec& spec = record.object->Spec<PodSpec>();
  const Interned node = spec.node_name, address = spec.pod_ip;
  if (by_node_.contains(node)) {
    auto& names = by_node_[node];
    names.Erase(name);
    if (names.empty()) by_node_.Erase(node);
  }
  if (ready_by_address_.contains(address)) {
    std::vector<Name>& names = ready_by_address_[address];
    std::erase(names, name);
    if (names.empty()) ready_by_address_.Erase(address);
  }
}

const PodRecord* PodIndex::Find(const Name& name) const { return pods_.Find(name); }

const PodRecord* PodIndex::FindByAddress(const Interned& ns, const Interned& address) const {
  const std::vector<Name>* ready = ready_by_address_.Find(address);
  if (ready == nullptr) return nullptr;
  const Name* first = nullptr;
  for (const Name& name : *ready) {
    if (name.first == ns && (first == nullptr || name < *first)) first = &name;
  }
  return first == nullptr ? nullptr : Find(*first);
}

std::vector<Name> PodIndex::OnNode(const Interned& node) const {
  std::vector<Name> names;
  const auto* on_node = by_node_.Find(node);
  if (on_node == nullptr) return names;
  for (const Name& name : *on_node) names.push_back(name);
  return names;
}

std::vector<Name> PodIndex::All() const {
  std::vector<Name> names;
  names.reserve(pods_.size());
  for (const auto& [name, record] : pods_) names.push_back(name);
  return names;
}

}  // namespace fairlead::registry
