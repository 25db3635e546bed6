#include <algorithm>
#include <optional>
#include <set>

#include "absl/status/statusor.h"
#include "base/strings.h"
#include "gen/secret/gateway_account.h"
#include "gen/secret/gateway_references.h"
#include "gen/secret/inputs.h"
#include "gen/secret/secret_name.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::secret {
namespace {

using config::Kind;

// Decides name by name, and reads what several names need once.
class Collector {
 public:
  // `cluster`: of the proxy, where it is not the control plane's own; else "".
  Collector(mesh::View& view, const model::PeerIdentity& identity, const Interned& cluster)
      : view_(view), identity_(identity), cluster_(cluster) {}

  // Nothing, and no refusal, for what is asked for so that nothing comes.
  absl::StatusOr<std::optional<SecretInputs>> Find(const std::string& name) {
    auto parsed = ParseSecretName(name, identity_.ns);
    if (!parsed.ok()) return parsed.status();
    if (parsed->scheme == Scheme::kInvalid) return std::nullopt;
    if (!MayHave(name, *parsed)) {
      if (MustWait(*parsed)) return std::nullopt;
      return absl::PermissionDeniedError(StrCat("'", name.substr(0, 100), "': ", identity_.ns, "/",
                                                identity_.service_account, " may not have it, ",
                                                WhoseItIs(*parsed)));
    }
    SecretInputs inputs;
    inputs.name = name;
    inputs.roots = parsed->OfRoots();
    inputs.object = FindObject(*parsed);
    if (inputs.object == nullptr)
      return absl::NotFoundError(StrCat("'", name.substr(0, 100), "': no such object"));
    if (!inputs.roots) inputs.key_provider = KeyProvider();
    return inputs;
  }

 private:
  bool MayHave(const std::string& name, const SecretName& parsed) {
    switch (parsed.scheme) {
      case Scheme::kConfigMap:
        return true;
      case Scheme::kKubernetes:
        if (parsed.ns != identity_.ns) return false;
        return MayHaveOwn(parsed);
      case Scheme::kKubernetesGateway:
        if (!of_gateways_) of_gateways_ = GatewayReferences(view_, identity_);
        return of_gateways_->contains(name) && OwnsItsLabels(view_, identity_);
      case Scheme::kInvalid:
        return false;
    }
    return false;
  }

  // Of its own namespace. Roots are public. Source: Istio's filterAuthorizedResources.
  bool MayHaveOwn(const SecretName& parsed) {
    if (!access_) access_ = AccessToSecrets(view_, identity_, cluster_);
    return *access_ == model::SecretAccess::kAllowed ||
           (parsed.OfRoots() && view_.SecretReviewer() != nullptr);
  }

  // Whether the API server has not said yet what it may have.
  bool MustWait(const SecretName& parsed) const {
    return parsed.scheme == Scheme::kKubernetes && parsed.ns == identity_.ns &&
           access_ == model::SecretAccess::kUnknown;
  }

  // For an operator, who is to find out what is missing.
  std::string WhoseItIs(const SecretName& parsed) {
    constexpr int kMost = 3;  // as many refusals are told; clients choose the number of names
    if (explained_++ >= kMost) return "as others before it";
    if (parsed.scheme == Scheme::kKubernetes && parsed.ns != identity_.ns)
      return StrCat("as it is for proxies of namespace ", parsed.ns.substr(0, 100));
    if (parsed.scheme == Scheme::kKubernetes && view_.SecretReviewer() != nullptr)
      return "as the API server says that the account may not list secrets";
    if (parsed.scheme == Scheme::kKubernetes)
      return "as it is for the accounts of this namespace's gateways, and those of FAIRLEAD_SECRET_READERS";
    const std::set<std::string> accounts = AccountsOf(view_, parsed);
    if (accounts.empty()) return "as no Gateway of its proxies refers to it, or may";
    return StrCat("as it is for the account ", Join(accounts, " or "));
  }

  // Roots may have a Secret of their own, "cert-cacert", or lie beside the pair, in "cert". The proxy's own
  // cluster comes first. Source: Istio's AggregateController.
  config::ConfigPtr FindObject(const SecretName& parsed) {
    std::string_view bare = parsed.name;
    if (bare.ends_with(kRootSuffix)) bare.remove_suffix(kRootSuffix.size());
    if (parsed.scheme == Scheme::kConfigMap) return view_.Object(Kind::kConfigMap, parsed.ns, bare);
    if (!cluster_.empty()) {
      if (config::ConfigPtr object = FindThere(parsed.ns, parsed.name)) return object;
      if (config::ConfigPtr object = parsed.OfRoots() ? FindThere(parsed.ns, bare) : nullptr) return object;
    }
    config::ConfigPtr object = view_.Object(Kind::kSecret, parsed.ns, parsed.name);
    if (object != nullptr || !parsed.OfRoots()) return object;
    return view_.Object(Kind::kSecret, parsed.ns, bare);
  }

  // A Secret of the proxy's cluster, where that is another one.
  config::ConfigPtr FindThere(std::string_view ns, std::string_view name) {
    const mesh::WrittenObjects::OfKind secrets = view_.Written(Kind::kSecret, cluster_);
    if (secrets == nullptr) return nullptr;
    const config::ConfigPtr* object = secrets->Find({Interned(ns), Interned(name)});
    return object == nullptr ? nullptr : *object;
  }

  Interned KeyProvider() {
    if (!key_provider_) {
      const auto config = view_.proxy_config();
      key_provider_ = config->has_private_key_provider()
                          ? Interned(proto::DeterministicBytes(config->private_key_provider()))
                          : Interned();
    }
    return *key_provider_;
  }

  mesh::View& view_;
  const model::PeerIdentity& identity_;
  const Interned cluster_;
  std::optional<std::set<std::string, std::less<>>> of_gateways_;
  std::optional<model::SecretAccess> access_;
  int explained_ = 0;
  std::optional<Interned> key_provider_;
};

// Whether the mesh has another cluster of that name.
bool IsOther(mesh::View& view, const Interned& cluster) {
  const mesh::WrittenObjects::Clusters others = view.OtherClusters();
  return others != nullptr && std::find(others->begin(), others->end(), cluster) != others->end();
}

}  // namespace

Collected Collect(mesh::View& view, const std::vector<std::string>& names) {
  Collected out;
  const std::optional<model::PeerIdentity>& identity = view.identity();
  if (!identity) {
    if (!names.empty()) out.refusals.emplace_back("the proxy has not proven who it is");
    return out;
  }
  Interned cluster = view.proxy_class().cluster_id;
  if (cluster == view.settings(model::SettingsPart::kScopes)->cluster_id) cluster = {};
  if (!cluster.empty() && !IsOther(view, cluster)) {
    out.refusals.push_back(StrCat("cluster ", cluster.str(), " is not known"));
    return out;
  }
  Collector collector(view, *identity, cluster);
  for (const std::string& name : names) {
    auto found = collector.Find(name);
    if (!found.ok()) {
      out.refusals.emplace_back(found.status().message());
    } else if (*found) {
      out.secrets.push_back(**std::move(found));
    }
  }
  return out;
}

}  // namespace fairlead::gen::secret
