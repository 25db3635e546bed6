#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "istio/security/v1beta1/peer_authentication.pb.h"
#include "mesh/index/object_index_builder.h"

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

NamespacePeerAuthentication::Selecting Digest(const Policy& policy) {
  const Spec& spec = SpecOf(policy.object);
  NamespacePeerAuthentication::Selecting digest;
  digest.policy = policy.object;
  digest.selector = policy.selector;
  digest.mode = ModeOf(spec.mtls());
  for (const auto& [port, mtls] : spec.port_level_mtls()) digest.ports.emplace_back(port, ModeOf(mtls));
  std::sort(digest.ports.begin(), digest.ports.end());
  return digest;
}

NamespacePeerAuthentication MakePart(const NamespacePolicies& policies, bool of_root,
                                     std::vector<config::Diagnostic>* diagnostics) {
  NamespacePeerAuthentication part;
  for (const Policy& policy : policies.policies) {
    if (!policy.ForAll()) {
      // A policy with a selector never applies in the root namespace.
      if (!of_root) part.selecting.push_back(Digest(policy));
    } else if (part.for_all == nullptr) {
      part.for_all = policy.object;
      part.mode = ModeOf(SpecOf(policy.object).mtls());
    } else {
      diagnostics->push_back(Shadowed(*policy.object, *part.for_all));
    }
  }
  return part;
}

}  // namespace

std::shared_ptr<const PeerAuthenticationIndex> PeerAuthenticationIndexBuilder::Build(
    const PolicyIndex& policies, const std::shared_ptr<const PeerAuthenticationIndex>& previous,
    std::vector<config::Diagnostic>* diagnostics) {
  auto index = std::make_shared<PeerAuthenticationIndex>();
  for (const auto& [ns, of_namespace] : policies.All(config::Kind::kPeerAuthentication)) {
    auto part = MakePart(*of_namespace, policies.root_namespace() == ns, diagnostics);
    NamespacePeerAuthenticationPtr kept = previous == nullptr ? nullptr : previous->Namespace(ns);
    if (kept == nullptr || *kept != part) {
      kept = std::make_shared<const NamespacePeerAuthentication>(std::move(part));
    }
    index->namespaces_.emplace(ns, std::move(kept));
  }
  index->mesh_ = index->Namespace(policies.root_namespace());
  const bool same =
      previous != nullptr && previous->mesh_ == index->mesh_ && previous->namespaces_ == index->namespaces_;
  return same ? previous : index;
}

NamespacePeerAuthenticationPtr PeerAuthenticationIndex::Namespace(std::string_view ns) const {
  const auto found = namespaces_.find(ns);
  return found == namespaces_.end() ? nullptr : found->second;
}

MutualTlsMode ForNamespace(const NamespacePeerAuthenticationPtr& mesh,
                           const NamespacePeerAuthenticationPtr& ns) {
  // An unset mode is PERMISSIVE in the root namespace's policy and the root's in other namespaces'.
  MutualTlsMode mode = MutualTlsMode::kUnset;
  for (const auto* part : {mesh.get(), ns.get()}) {
    if (part == nullptr || part->for_all == nullptr) continue;
    if (mode == MutualTlsMode::kUnset) mode = MutualTlsMode::kPermissive;
    Inherit(part->mode, &mode);
  }
  return mode;
}

PeerAuthentication ForWorkload(const NamespacePeerAuthenticationPtr& mesh,
                               const NamespacePeerAuthenticationPtr& ns, const LabelMap& labels) {
  PeerAuthentication effective;
  Inherit(ForNamespace(mesh, ns), &effective.mode);
  if (ns == nullptr) return effective;
  const auto own = std::find_if(ns->selecting.begin(), ns->selecting.end(), [&labels](const auto& policy) {
    return SelectorMatches(policy.selector, labels);
  });
  if (own == ns->selecting.end()) return effective;
  Inherit(own->mode, &effective.mode);
  effective.ports = own->ports;
  for (auto& [port, mode] : effective.ports) {
    if (mode == MutualTlsMode::kUnset) mode = effective.mode;
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
