#include "gateway_api/conversion/listener_tls.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/cipher_suite.h"
#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "gateway_api/certificates.h"
#include "gateway_api/reference_grant.h"
#include "istio/networking/v1alpha3/gateway.pb.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::Kind;
using config::Node;
using Tls = istio::networking::v1alpha3::ServerTLSSettings;

constexpr std::string_view kTerminateMode = "gateway.istio.io/tls-terminate-mode";
constexpr std::string_view kCipherSuites = "gateway.istio.io/tls-cipher-suites";
constexpr size_t kMostCertificates = 2;

ConfigError Error(std::string_view reason, std::string message) {
  return {std::string(reason), std::move(message)};
}

// "group/kind/name.namespace", each as written.
std::string Spelled(Node reference) {
  return StrCat(reference.Find("group").text(), "/", reference.Find("kind").text(), "/",
                reference.Find("name").text(), ".", reference.Find("namespace").text());
}

ConfigPtr FindSecret(std::string_view ns, std::string_view name, Lookups& lookups) {
  ConfigPtr secret = lookups.Find(Kind::kSecret, ns, name);
  return secret != nullptr && IsReadSecret(*secret) ? secret : nullptr;
}

// What is wrong with a Secret as certificate and key; `what` begins the message.
MaybeError CheckKeyPairSecret(Node reference, std::string_view ns, std::string_view reason,
                              std::string_view what, Lookups& lookups) {
  const std::string begin = StrCat("invalid ", what, " ", Spelled(reference), ", ");
  if (ReferredKind(reference, GroupKindOf(Kind::kSecret)) != GroupKindOf(Kind::kSecret))
    return Error(reason, begin + "only secret is allowed");
  const std::string_view name = reference.Find("name").text();
  const ConfigPtr secret = FindSecret(ns, name, lookups);
  if (secret == nullptr) return Error(reason, StrCat(begin, "secret ", ns, "/", name, " not found"));
  const auto& data = secret->Spec<config::SecretSpec>().data;
  if (const auto missing = MissingKeyPair(data)) return Error(reason, begin + *missing);
  if (const auto broken = BrokenKeyPair(data))
    return Error(reason, StrCat(begin, "the certificate is malformed: ", *broken));
  return std::nullopt;
}

std::string NotPermitted(std::string_view what, std::string_view name, std::string_view ns) {
  return StrCat(what, " ", name, " not accessible to a Gateway in namespace \"", ns,
                "\" (missing a ReferenceGrant?)");
}

// Whether the grant is there comes first: a status must not tell what is in another's namespace.
MaybeError CheckCertificate(const ConfigObject& owner, Node reference, Lookups& lookups) {
  const std::string_view own = owner.ns();
  const std::string_view ns = ReferredNamespace(reference, own);
  const std::string_view name = reference.Find("name").text();
  if (ns != own && !IsGranted(owner.kind(), own, GroupKindOf(Kind::kSecret), ns, name, lookups))
    return Error(kRefNotPermitted, NotPermitted("certificateRef", StrCat(name, "/", ns), own));
  return CheckKeyPairSecret(reference, ns, kInvalidCertificateRef, "certificate reference", lookups);
}

MaybeError SetCertificates(const ConfigObject& owner, Node references, Tls* tls, Lookups& lookups,
                           bool* any_valid) {
  if (references.size() > kMostCertificates) {
    return Error(kInvalidCertificateRef, "TLS mode can only support up to 2 server certificates");
  }
  std::vector<std::string> names;
  size_t valid = 0;
  MaybeError errors;
  for (Node reference : references.elements()) {
    const MaybeError error = CheckCertificate(owner, reference, lookups);
    errors = Joined(errors, error);
    valid += error ? 0 : 1;
    names.push_back(error ? ""
                          : StrCat("kubernetes-gateway://", ReferredNamespace(reference, owner.ns()), "/",
                                   reference.Find("name").text()));
  }
  *any_valid = valid > 0;
  if (valid == 0) return errors;
  // Istio takes the first name where one of two is good, even if that is the bad one.
  if (valid == 1) {
    tls->set_credential_name(names.front());
  } else {
    for (std::string& name : names) tls->add_credential_names(std::move(name));
  }
  return std::nullopt;
}

MaybeError CheckRoot(Node reference, std::string_view ns, Lookups& lookups) {
  const std::string begin = StrCat("invalid CA certificate reference ", Spelled(reference), ", ");
  const GroupKind kind = ReferredKind(reference);
  const std::string_view name = reference.Find("name").text();
  std::map<std::string, std::string> data;
  if (kind == GroupKindOf(Kind::kConfigMap)) {
    const ConfigPtr map = lookups.Find(Kind::kConfigMap, ns, name);
    if (map == nullptr)
      return Error(kInvalidCaCertificateRef, StrCat(begin, "configmap ", ns, "/", name, " not found"));
    data = map->Spec<config::ConfigMapSpec>().data;
  } else if (kind == GroupKindOf(Kind::kSecret)) {
    const ConfigPtr secret = FindSecret(ns, name, lookups);
    if (secret == nullptr)
      return Error(kInvalidCaCertificateRef, StrCat(begin, "secret ", ns, "/", name, " not found"));
    data = secret->Spec<config::SecretSpec>().data;
  } else {
    return Error(kInvalidCaCertificateKind, begin + "only secret and configmap are allowed");
  }
  if (const auto missing = MissingRoot(data)) return Error(kInvalidCaCertificateRef, begin + *missing);
  if (!HasCertificate(data)) return Error(kInvalidCaCertificateRef, begin + "the bundle is malformed");
  return std::nullopt;
}

// How clients are validated: spec.tls.frontend of the Gateway, for the port or by default.
Node FrontendValidation(Node gateway, int64_t port) {
  const Node frontend = gateway.Find("tls").Find("frontend");
  for (Node one : frontend.Find("perPort").elements()) {
    if (one.Find("port").Int() == port) return one.Find("tls").Find("validation");
  }
  return frontend.Find("default").Find("validation");
}

void SetValidationMode(Node validation, std::string_view terminate_mode, Tls* tls) {
  const bool insecure = validation.Find("mode").text() == "AllowInsecureFallback";
  tls->set_mode(insecure ? Tls::OPTIONAL_MUTUAL : Tls::MUTUAL);
  tls->mutable_insecure_skip_verify()->set_value(insecure);
  if (terminate_mode != "MUTUAL" && terminate_mode != "OPTIONAL_MUTUAL") return;
  tls->set_mode(terminate_mode == "MUTUAL" ? Tls::MUTUAL : Tls::OPTIONAL_MUTUAL);
  tls->mutable_insecure_skip_verify()->set_value(false);
}

MaybeError SetValidation(const ConfigObject& owner, Node validation, std::string_view terminate_mode,
                         Tls* tls, Lookups& lookups) {
  const Node references = validation.Find("caCertificateRefs");
  if (references.size() == 0) return std::nullopt;
  if (references.size() > 1) return Error(kInvalidCaCertificateRef, "only one caCertificateRef is supported");
  const Node reference = references.At(0);
  const std::string_view own = owner.ns(), name = reference.Find("name").text();
  const std::string_view ns = ReferredNamespace(reference, own);
  const Kind kind = ReferredKind(reference) == GroupKindOf(Kind::kSecret) ? Kind::kSecret : Kind::kConfigMap;
  // A grant by name is for the name of the resource, which ends like that.
  const std::string granted = StrCat(name, "-cacert");
  if (ns != own && !IsGranted(owner.kind(), own, GroupKindOf(kind), ns, granted, lookups))
    return Error(kRefNotPermitted, NotPermitted("caCertificateRef", StrCat(ns, "/", name), own));
  if (MaybeError error = CheckRoot(reference, ns, lookups)) return error;
  SetValidationMode(validation, terminate_mode, tls);
  tls->set_ca_cert_credential_name(
      StrCat(kind == Kind::kSecret ? "kubernetes-gateway" : "configmap", "://", ns, "/", name, "-cacert"));
  return std::nullopt;
}

// *done: the mode says it all, the rest of the section does not count.
MaybeError SetTerminating(const ConfigObject& owner, Node gateway, Node section, int64_t port, Tls* tls,
                          Lookups& lookups, bool* done) {
  const std::string_view mode = section.Find("options").Find(kTerminateMode).text();
  tls->set_mode(mode == "MUTUAL"            ? Tls::MUTUAL
                : mode == "OPTIONAL_MUTUAL" ? Tls::OPTIONAL_MUTUAL
                : mode == "ISTIO_MUTUAL"    ? Tls::ISTIO_MUTUAL
                                            : Tls::SIMPLE);
  *done = true;
  if (mode == "ISTIO_SIMPLE") tls->set_credential_name("builtin://");
  if (mode == "ISTIO_SIMPLE" || mode == "ISTIO_MUTUAL") return std::nullopt;
  bool any_valid = false;
  if (MaybeError error = SetCertificates(owner, section.Find("certificateRefs"), tls, lookups, &any_valid))
    return error;
  if (!any_valid) return std::nullopt;
  *done = false;
  return SetValidation(owner, FrontendValidation(gateway, port), mode, tls, lookups);
}

void SetCipherSuites(Node options, Tls* tls) {
  const std::string_view list = options.Find(kCipherSuites).text();
  if (list.empty()) return;
  absl::flat_hash_set<std::string> seen;
  for (std::string_view suite : Split(list, ',')) {
    const std::string name(Trim(suite));
    if (IsCipherSuite(name) && seen.insert(name).second) tls->add_cipher_suites(name);
  }
}

// A gateway to another network: mutual TLS goes through by SNI.
bool PassesMeshTraffic(const LabelMap& labels, Node section, int64_t port) {
  if (section.Find("options").Find("gateway.istio.io/listener-protocol").text() == "auto-passthrough")
    return true;
  if (!labels.contains("topology.istio.io/network")) return false;
  return StrCat(port) == LabelOr(labels, "networking.istio.io/gatewayPort", "15443");
}

}  // namespace

ListenerTls BuildListenerTls(const ConfigObject& owner, Node gateway, Node listener, int64_t port,
                             Lookups& lookups) {
  const Node section = listener.Find("tls");
  if (section.IsNull()) return {};
  auto tls = std::make_shared<Tls>();
  const std::string_view mode = section.Find("mode").String("Terminate");
  bool done = false;
  MaybeError error;
  if (mode == "Terminate") error = SetTerminating(owner, gateway, section, port, tls.get(), lookups, &done);
  if (mode == "Passthrough") {
    tls->set_mode(PassesMeshTraffic(owner.meta().labels, section, port) ? Tls::AUTO_PASSTHROUGH
                                                                        : Tls::PASSTHROUGH);
  }
  if (!done && !error) SetCipherSuites(section.Find("options"), tls.get());
  return {std::move(tls), std::move(error)};
}

MaybeError CheckBackendCertificate(const ConfigObject& gateway, Lookups& lookups) {
  constexpr std::string_view kReason = "InvalidClientCertificateRef";
  const Node reference =
      gateway.Spec<config::Tree>().Find("spec").Find("tls").Find("backend").Find("clientCertificateRef");
  if (reference.IsNull()) return std::nullopt;
  const std::string_view own = gateway.ns(), name = reference.Find("name").text();
  const std::string_view ns = ReferredNamespace(reference, own);
  if (MaybeError error = CheckKeyPairSecret(reference, ns, kReason, "clientCertificateRef", lookups))
    return error;
  if (ns != own && !IsGranted(gateway.kind(), own, GroupKindOf(Kind::kSecret), ns, name, lookups))
    return Error(kRefNotPermitted, NotPermitted("clientCertificateRef", StrCat(name, "/", ns), own));
  return std::nullopt;
}

}  // namespace fairlead::gateway_api
