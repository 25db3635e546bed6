#include "app/node_pods.h"

#include "config/kubernetes_types.h"

namespace fairlead::app {
namespace {

// As they are written: an agent may ask for a pod before it has an address. Null: there are none.
mesh::WrittenObjects::OfKind PodsOf(const mesh::SnapshotPtr& snapshot, const std::string& cluster) {
  const bool any = snapshot != nullptr && snapshot->written != nullptr;
  return any ? snapshot->written->All(config::Kind::kPod, Interned(cluster)) : nullptr;
}

}  // namespace

std::optional<ca::Pods::Pod> NodePods::Find(const std::string& cluster, const std::string& ns,
                                            const std::string& name) const {
  const auto pods = PodsOf(snapshot_(), cluster);
  const config::ConfigPtr* found = pods == nullptr ? nullptr : pods->Find({Interned(ns), Interned(name)});
  if (found == nullptr) return std::nullopt;
  const auto& spec = (*found)->Spec<config::PodSpec>();
  return Pod{(*found)->meta().uid, spec.node_name, spec.service_account};
}

bool NodePods::Runs(const std::string& cluster, const std::string& ns, const std::string& service_account,
                    const std::string& node) const {
  const auto pods = PodsOf(snapshot_(), cluster);
  if (pods == nullptr) return false;
  for (auto it = pods->LowerBound({Interned(ns), {}}); it != pods->end() && it->first.first == ns; ++it) {
    const auto& pod = it->second->Spec<config::PodSpec>();
    if (pod.service_account == service_account && pod.node_name == node) return true;
  }
  return false;
}

}  // namespace fairlead::app
