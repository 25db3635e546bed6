#include "app/node_pods.h"

#include "config/kubernetes_types.h"

namespace fairlead::app {
namespace {

// As they are written: an agent may ask for a pod before it has an address. Null: there are none.
mesh::WrittenObjects::OfKind PodsOf(const mesh::SnapshotPtr& snapshot) {
  const bool any = snapshot != nullptr && snapshot->written != nullptr;
  return any ? snapshot->written->All(config::Kind::kPod) : nullptr;
}

}  // namespace

std::string NodePods::NodeOf(const std::string& ns, const std::string& pod) const {
  const auto pods = PodsOf(snapshot_());
  const config::ConfigPtr* found = pods == nullptr ? nullptr : pods->Find({Interned(ns), Interned(pod)});
  return found == nullptr ? "" : (*found)->Spec<config::PodSpec>().node_name;
}

bool NodePods::Runs(const std::string& ns, const std::string& service_account,
                    const std::string& node) const {
  const auto pods = PodsOf(snapshot_());
  if (pods == nullptr) return false;
  for (auto it = pods->LowerBound({Interned(ns), {}}); it != pods->end() && it->first.first == ns; ++it) {
    const auto& pod = it->second->Spec<config::PodSpec>();
    if (pod.service_account == service_account && pod.node_name == node) return true;
  }
  return false;
}

}  // namespace fairlead::app
