#include "gen/secret/gateway_account.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "mesh/view/service_targets.h"
#include "model/settings.h"

namespace fairlead::gen::secret {
namespace {

bool IsOf(const config::ConfigObject& pod, const model::PeerIdentity& identity) {
  return pod.ns() == identity.ns && pod.Spec<config::PodSpec>().service_account == identity.service_account;
}

bool AnyPodIn(mesh::View& view, const Interned& cluster, const model::PeerIdentity& identity) {
  const mesh::WrittenObjects::OfKind pods = view.Written(config::Kind::kPod, cluster);
  if (pods == nullptr) return false;
  auto pod = pods->LowerBound({Interned(identity.ns), {}});
  for (; pod != pods->end() && pod->first.first == identity.ns; ++pod) {
    if (IsOf(*pod->second, identity)) return true;
  }
  return false;
}

// In any cluster: which one is its own is the proxy's word alone.
bool AnyPodOf(mesh::View& view, const model::PeerIdentity& identity) {
  if (AnyPodIn(view, Interned(), identity)) return true;
  const mesh::WrittenObjects::Clusters others = view.OtherClusters();
  return others != nullptr && std::any_of(others->begin(), others->end(), [&](const Interned& cluster) {
           return AnyPodIn(view, cluster, identity);
         });
}

bool IsListed(mesh::View& view, const model::PeerIdentity& identity) {
  const auto& readers = view.settings(model::SettingsPart::kScopes)->features.secret_readers;
  const std::string account = StrCat(identity.ns, "/", identity.service_account);
  const std::string all = StrCat(identity.ns, "/*");
  return std::any_of(readers.begin(), readers.end(), [&](const std::string& reader) {
    return reader == "*" || reader == account || reader == all;
  });
}

bool IsOfGateway(mesh::View& view, const model::PeerIdentity& identity) {
  if (view.proxy_class().type != model::ProxyType::kRouter || !OwnsItsLabels(view, identity)) return false;
  // A router on a host may be there for a DestinationRule alone; a pod is no gateway by its word.
  return !view.gateway_names()->empty() || !AnyPodOf(view, identity);
}

}  // namespace

bool OwnsItsLabels(mesh::View& view, const model::PeerIdentity& identity) {
  if (identity.trust_domain.empty()) return true;
  const model::Proxy& proxy = view.proxy();
  if (proxy.metadata.labels.contains(mesh::kTestVmLabel)) return !AnyPodOf(view, identity);
  if (const model::WorkloadInstance* pod = mesh::FindPodOf(view, proxy))
    return IsOf(*pod->sources.front(), identity);
  return !AnyPodOf(view, identity);
}

model::SecretAccess AccessToSecrets(mesh::View& view, const model::PeerIdentity& identity,
                                    const Interned& cluster) {
  using model::SecretAccess;
  if (IsListed(view, identity)) return SecretAccess::kAllowed;
  const model::SecretReviewerPtr reviewer = view.SecretReviewer();
  if (reviewer == nullptr)
    return IsOfGateway(view, identity) ? SecretAccess::kAllowed : SecretAccess::kDenied;
  const model::ClusterAccount who{cluster, StrCat(identity.ns, "/", identity.service_account)};
  const SecretAccess access = view.SecretAccess(who);
  if (access == SecretAccess::kUnknown) reviewer->Want(who);
  return access;
}

}  // namespace fairlead::gen::secret
