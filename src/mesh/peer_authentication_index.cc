#include <algorithm>

#include "base/strings.h"
#include "istio/security/v1beta1/peer_authentication.pb.h"
#include "mesh/object_index.h"

namespace fairlead::mesh {
namespace {

using config::ConfigPtr;
using Spec = istio::security::v1beta1::PeerAuthentication;

MutualTlsMode ModeOf(const Spec::MutualTLS& mtls) {
  switch (mtls.mode()) {
    case Spec::MutualTLS::DISABLE:
      return MutualTlsMode::kDisable;
    case Spec::MutualTLS::PERMISSIVE:
      return MutualTlsMode::kPermissive;
    case Spec::MutualTLS::STRICT:
      return MutualTlsMode::kStrict;
    default:
      return MutualTlsMode::kUnset;
  }
}

const Spec& SpecOf(const ConfigPtr& policy) { return policy->Spec<Spec>(); }

bool Selects(const Spec& policy, const LabelMap& labels) {
  for (const auto& [key, value] : policy.selector().match_labels()) {
    auto it = labels.find(key);
    if (it == labels.end() || it->second != value) return false;
  }
  return true;
}

void Inherit(MutualTlsMode mode, MutualTlsMode* effective) {
  if (mode != MutualTlsMode::kUnset) *effective = mode;
}

config::Diagnostic Shadowed(const config::ConfigObject& policy, const config::ConfigObject& winner) {
  return {.severity = config::Severity::kWarning,
          .code = "duplicate-policy",
          .file = policy.origin().file.str(),
          .line = policy.origin().line,
          .object = config::KeyOf(policy),
          .path = "",
          .message = StrCat("ignored: ", config::Describe(config::KeyOf(winner)),
                            " is older and applies to the whole namespace too")};
}

}  // namespace

std::shared_ptr<const PeerAuthenticationIndex> PeerAuthenticationIndexBuilder::Build(
    const config::ObjectStore& store, const Interned& root_namespace,
    std::vector<config::Diagnostic>* diagnostics) {
  auto index = std::make_shared<PeerAuthenticationIndex>();
  index->root_namespace_ = root_namespace;
  for (const ConfigPtr& policy : OldestFirst(store, config::Kind::kPeerAuthentication)) {
    if (!SpecOf(policy).selector().match_labels().empty()) {
      index->policies_[policy->ns().str()].push_back(policy);
      continue;
    }
    const auto [known, is_new] = index->namespace_policies_.try_emplace(policy->ns().str(), policy);
    if (!is_new) diagnostics->push_back(Shadowed(*policy, *known->second));
  }
  // An unset mode is PERMISSIVE in the root namespace's policy and the root's in other namespaces'.
  auto root = index->namespace_policies_.find(root_namespace.str());
  if (root != index->namespace_policies_.end()) {
    index->mesh_mode_ = MutualTlsMode::kPermissive;
    Inherit(ModeOf(SpecOf(root->second).mtls()), &index->mesh_mode_);
  }
  for (const auto& [ns, policy] : index->namespace_policies_) {
    if (root_namespace == ns) continue;
    MutualTlsMode& mode = index->namespace_modes_[ns];
    mode = index->mesh_mode_ == MutualTlsMode::kUnset ? MutualTlsMode::kPermissive : index->mesh_mode_;
    Inherit(ModeOf(SpecOf(policy).mtls()), &mode);
  }
  return index;
}

MutualTlsMode PeerAuthenticationIndex::ForNamespace(std::string_view ns) const {
  auto it = namespace_modes_.find(ns);
  return it == namespace_modes_.end() ? mesh_mode_ : it->second;
}

MutualTlsMode PeerAuthenticationIndex::ForService(const model::Service& service,
                                                  const model::ServicePort& /*port*/) const {
  if (service.mesh_external) return MutualTlsMode::kUnset;
  const MutualTlsMode mode = ForNamespace(service.ns);
  return mode == MutualTlsMode::kUnset ? MutualTlsMode::kPermissive : mode;
}

PeerAuthentication PeerAuthenticationIndex::ForWorkload(std::string_view ns, const LabelMap& labels) const {
  PeerAuthentication effective;
  Inherit(ForNamespace(ns), &effective.mode);
  auto of_namespace = policies_.find(ns);
  // A policy with a selector never applies in the root namespace.
  if (of_namespace == policies_.end() || root_namespace_ == ns) return effective;
  for (const ConfigPtr& policy : of_namespace->second) {
    const Spec& spec = SpecOf(policy);
    if (!Selects(spec, labels)) continue;
    Inherit(ModeOf(spec.mtls()), &effective.mode);
    for (const auto& [port, mtls] : spec.port_level_mtls()) {
      MutualTlsMode mode = effective.mode;
      Inherit(ModeOf(mtls), &mode);
      effective.ports.emplace_back(port, mode);
    }
    std::sort(effective.ports.begin(), effective.ports.end());
    break;
  }
  return effective;
}

MutualTlsMode PeerAuthentication::ForPort(uint32_t port) const {
  for (const auto& [number, port_mode] : ports) {
    if (number == port) return port_mode;
  }
  return mode;
}

}  // namespace fairlead::mesh
