#include "gen/secret/gateway_references.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/strings.h"
#include "config/derived_object.h"
#include "config/tree.h"
#include "gen/secret/secret_name.h"
#include "istio/networking/v1alpha3/gateway.pb.h"

namespace fairlead::gen::secret {
namespace {

using istio::networking::v1alpha3::Gateway;
using istio::networking::v1alpha3::ServerTLSSettings;

// Whether the client is one of the proxies that the Gateway, of namespace `ns`, is for: behind a service that
// it names, else with the labels that it selects.
bool Serves(mesh::View& view, const config::ConfigObject& object, std::string_view ns) {
  const LabelMap& annotations = object.meta().annotations;
  if (!annotations.contains(config::kGatewayServiceAnnotation))
    return view.HasLabels(object.Spec<Gateway>().selector());
  const std::string_view services = LabelOr(annotations, config::kGatewayServiceAnnotation);
  const std::vector<std::string_view> hosts = Split(services, ',');
  return std::any_of(view.targets().begin(), view.targets().end(), [&](const mesh::ServiceTarget& target) {
    return target.service->ns == ns &&
           std::find(hosts.begin(), hosts.end(), target.service->hostname.str()) != hosts.end();
  });
}

// Whether a ReferenceGrant lets Gateways (or ListenerSets) of a namespace have the secret.
bool Granted(mesh::View& view, std::string_view kind, std::string_view from_namespace,
             const SecretName& secret) {
  const auto& grants = view.Objects(config::Kind::kReferenceGrant, secret.ns);
  return std::any_of(grants.begin(), grants.end(), [&](const config::ConfigPtr& grant) {
    const config::Node spec = grant->Spec<config::Tree>().Find("spec");
    bool from_here = false, to_secret = false;
    for (const config::Node from : spec.Find("from").elements()) {
      from_here |= from.Find("group").String() == "gateway.networking.k8s.io" &&
                   from.Find("kind").String() == kind && from.Find("namespace").String() == from_namespace;
    }
    for (const config::Node to : spec.Find("to").elements()) {
      const std::string_view name = to.Find("name").String();
      to_secret |= to.Find("group").String().empty() && to.Find("kind").String() == "Secret" &&
                   (name.empty() || name == secret.name);
    }
    return from_here && to_secret;
  });
}

// The references of one Gateway that is the client's.
class OfGateway {
 public:
  OfGateway(mesh::View& view, const model::PeerIdentity& identity, const config::ConfigObject& object,
            std::set<std::string, std::less<>>* out)
      : view_(view), identity_(identity), out_(out) {
    const bool listener_set =
        LabelOr(object.meta().annotations, config::kParentsAnnotation).starts_with("ListenerSet/");
    kind_ = listener_set ? "ListenerSet" : "Gateway";
    // A ListenerSet may live elsewhere: the Gateway has let it in.
    from_namespace_ = listener_set ? object.ns().str() : identity.ns;
    own_ = listener_set || object.ns() == identity.ns;
  }

  void Add(const ServerTLSSettings& tls) {
    const bool mutual =
        tls.mode() == ServerTLSSettings::MUTUAL || tls.mode() == ServerTLSSettings::OPTIONAL_MUTUAL;
    std::vector<std::string> names(tls.credential_names().begin(), tls.credential_names().end());
    if (names.empty()) names.push_back(tls.credential_name());
    for (const std::string& name : names) Add(name, mutual);
    if (tls.ca_cert_credential_name().starts_with("kubernetes-gateway://"))
      Add(tls.ca_cert_credential_name(), false);
  }

 private:
  void Add(const std::string& credential_name, bool mutual) {
    if (credential_name.empty() || credential_name.starts_with("builtin://")) return;
    const std::string resource = ResourceNameOf(credential_name);
    const auto parsed = ParseSecretName(resource, identity_.ns);
    if (!parsed.ok()) return;
    const bool same = own_ && parsed->ns == from_namespace_;
    if (!same && !Granted(view_, kind_, from_namespace_, *parsed)) return;
    out_->insert(resource);
    if (mutual) out_->insert(StrCat(resource, kRootSuffix));
  }

  mesh::View& view_;
  const model::PeerIdentity& identity_;
  std::set<std::string, std::less<>>* const out_;
  std::string_view kind_;
  std::string from_namespace_;
  bool own_ = false;
};

}  // namespace

std::set<std::string, std::less<>> GatewayReferences(mesh::View& view, const model::PeerIdentity& identity) {
  std::set<std::string, std::less<>> out;
  // An identity that a proxy merely says to have names no trust domain. Istio lets only those have Gateways'
  // secrets who have proven theirs (VerifiedCertificateReferences).
  if (identity.trust_domain.empty()) return out;
  for (const config::ConfigPtr& object : view.AllObjects(config::Kind::kGateway)) {
    const LabelMap& annotations = object->meta().annotations;
    std::string_view ns = LabelOr(annotations, config::kParentNamespaceAnnotation);
    if (ns.empty()) ns = object->ns();
    const std::string_view account = LabelOr(annotations, config::kServiceAccountAnnotation);
    if (identity.ns != ns || (!account.empty() && identity.service_account != account)) continue;
    if (!Serves(view, *object, ns)) continue;
    OfGateway of_gateway(view, identity, *object, &out);
    for (const auto& server : object->Spec<Gateway>().servers()) of_gateway.Add(server.tls());
  }
  return out;
}

std::set<std::string> AccountsOf(mesh::View& view, const SecretName& secret) {
  const auto refers = [&](const std::string& credential) {
    const auto parsed = ParseSecretName(ResourceNameOf(credential), secret.ns);
    if (credential.empty() || !parsed.ok() || parsed->ns != secret.ns) return false;
    return parsed->name == secret.name || StrCat(parsed->name, kRootSuffix) == secret.name;
  };
  std::set<std::string> accounts;
  for (const config::ConfigPtr& object : view.AllObjects(config::Kind::kGateway)) {
    const LabelMap& annotations = object->meta().annotations;
    const std::string_view account = LabelOr(annotations, config::kServiceAccountAnnotation);
    if (account.empty()) continue;
    const std::string_view parent = LabelOr(annotations, config::kParentNamespaceAnnotation);
    for (const auto& server : object->Spec<Gateway>().servers()) {
      const auto& tls = server.tls();
      if (!refers(tls.credential_name()) &&
          std::none_of(tls.credential_names().begin(), tls.credential_names().end(), refers))
        continue;
      accounts.insert(StrCat(parent.empty() ? std::string_view(object->ns()) : parent, "/", account));
    }
  }
  return accounts;
}

}  // namespace fairlead::gen::secret
