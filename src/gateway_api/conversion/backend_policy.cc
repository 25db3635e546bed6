#include "gateway_api/conversion/backend_policy.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "config/read/tree_object.h"
#include "config/tree.h"
#include "gateway_api/certificates.h"
#include "gateway_api/group_kind.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"

namespace fairlead::gateway_api {
namespace {

namespace net = istio::networking::v1alpha3;
using config::ConfigObject;
using config::ConfigPtr;
using config::Kind;
using config::Node;
using config::SpecOf;

constexpr std::string_view kAccepted = "Accepted";
constexpr std::string_view kResolvedRefs = "ResolvedRefs";
constexpr std::string_view kIgnore = "istio.io/ignore-policy-attachment";
constexpr Kind kReferredKinds[] = {Kind::kService, Kind::kServiceEntry, Kind::kConfigMap, Kind::kSecret};

bool IsIgnored(const ConfigObject& policy) {
  return EqualsIgnoreCase(LabelOr(policy.meta().annotations, kIgnore), "true");
}

// The object that a reference of a policy names, or what is wrong with that.
struct Referred {
  ConfigPtr object;
  std::string error;
  bool unknown_kind = false;
};

Referred Resolve(Node reference, std::string_view ns, Lookups& lookups) {
  const std::string_view name = reference.Find("name").text();
  const GroupKind wanted = ReferredKind(reference);
  for (Kind kind : kReferredKinds) {
    if (GroupKindOf(kind) != wanted) continue;
    if (ConfigPtr object = lookups.Find(kind, ns, name)) return {std::move(object), "", false};
    return {nullptr, StrCat("reference ", ns, "/", name, " (of kind ", wanted.kind, ") not found"), false};
  }
  return {nullptr, StrCat("unsupported kind ", wanted.kind), true};
}

// The name of the CA certificates' resource; "" for the system's.
std::string CaCredential(const ConfigObject& policy, DraftConditions* conditions, Lookups& lookups) {
  const Node validation = SpecOf(policy).Find("validation");
  const Node well_known = validation.Find("wellKnownCACertificates");
  if (!well_known.IsNull()) {
    if (well_known.text() != "System") {
      conditions->Fail(kAccepted,
                       {"Invalid", StrCat("Unknown wellKnownCACertificates: ", well_known.text())});
    }
    return "";
  }
  const Node references = validation.Find("caCertificateRefs");
  if (references.size() == 0) return "";
  if (references.size() > 1) {
    conditions->Set(kAccepted, kAccepted,
                    "Configuration is valid; warning: only the first caCertificateRefs will be used");
  }
  const Node reference = references.At(0);
  Referred referred = Resolve(reference, policy.ns(), lookups);
  std::string_view reason = "InvalidCACertificateRef", begin = "Certificate reference not found: ";
  if (referred.unknown_kind) {
    reason = "InvalidKind", begin = "Certificate reference not supported: ";
  } else if (referred.object != nullptr && referred.object->kind() != Kind::kConfigMap) {
    reason = "InvalidKind", begin = "Certificate reference invalid: ";
    referred.error = StrCat("unsupported reference kind: ", reference.Find("kind").text());
  } else if (referred.object != nullptr) {
    const auto missing = MissingRoot(referred.object->Spec<config::ConfigMapSpec>().data);
    if (!missing) return StrCat("configmap://", policy.ns().str(), "/", reference.Find("name").text());
    begin = "Certificate invalid: ";
    referred.error = *missing;
  }
  conditions->Fail(kResolvedRefs, {std::string(reason), StrCat(begin, referred.error)});
  conditions->Fail(kAccepted,
                   {"NoValidCACertificate", StrCat("Certificate reference invalid: ", referred.error)});
  return "invalid://";  // keeps traffic from going out unchecked
}

std::shared_ptr<const net::ClientTLSSettings> ReadTls(const ConfigObject& policy, DraftConditions* conditions,
                                                      Lookups& lookups) {
  const Node validation = SpecOf(policy).Find("validation");
  auto tls = std::make_shared<net::ClientTLSSettings>();
  tls->set_mode(net::ClientTLSSettings::SIMPLE);
  tls->set_sni(std::string(validation.Find("hostname").text()));
  for (Node name : validation.Find("subjectAltNames").elements()) {
    const std::string_view type = name.Find("type").text();
    if (type == "Hostname") tls->add_subject_alt_names(std::string(name.Find("hostname").text()));
    if (type == "URI") tls->add_subject_alt_names(std::string(name.Find("uri").text()));
  }
  tls->set_credential_name(CaCredential(policy, conditions, lookups));
  return tls;
}

std::vector<std::pair<std::string, uint32_t>> PortsOf(const ConfigObject& target) {
  std::vector<std::pair<std::string, uint32_t>> ports;
  if (target.kind() == Kind::kService) {
    for (const config::ServicePortSpec& port : target.Spec<config::ServiceSpec>().ports)
      ports.emplace_back(port.name, static_cast<uint32_t>(port.port));
  } else {
    for (const net::ServicePort& port : target.Spec<net::ServiceEntry>().ports())
      ports.emplace_back(port.name(), port.number());
  }
  return ports;
}

// "" where the target can have the policy.
std::string CheckTarget(Node reference, const Referred& referred) {
  if (referred.object == nullptr) return referred.error;
  const ConfigObject& target = *referred.object;
  if (target.kind() != Kind::kService && target.kind() != Kind::kServiceEntry)
    return StrCat("unsupported reference kind: ", reference.Find("kind").text());
  const std::string_view section = reference.Find("sectionName").text();
  if (section.empty()) return "";
  for (const auto& [name, number] : PortsOf(target)) {
    if (name == section) return "";
  }
  return StrCat("sectionName \"", section, "\" does not exist in ", config::InfoOf(target.kind()).name, " ",
                target.ns().str(), "/", target.name().str());
}

bool SameTarget(Node a, Node b) {
  const Node section = a.Find("sectionName"), other = b.Find("sectionName");
  return ReferredKind(a) == ReferredKind(b) && a.Find("name").text() == b.Find("name").text() &&
         section.IsNull() == other.IsNull() && section.text() == other.text();
}

// The policy that has the target before this one; null where this one has it.
ConfigPtr Winner(const ConfigObject& policy, Node reference, Lookups& lookups) {
  const auto rank = [](const ConfigObject& one) {
    return std::tie(one.meta().creation_time, one.meta().name);
  };
  ConfigPtr winner;
  for (const ConfigPtr& other : lookups.In(Kind::kBackendTlsPolicy, policy.ns())) {
    if (KeyOf(*other) == KeyOf(policy) || IsIgnored(*other) || !(rank(*other) < rank(policy))) continue;
    if (winner != nullptr && !(rank(*other) < rank(*winner))) continue;
    for (Node target : SpecOf(*other).Find("targetRefs").elements()) {
      if (SameTarget(reference, target)) winner = other;
    }
  }
  return winner;
}

std::vector<std::string> HostsOf(const ConfigObject& target, Lookups& lookups) {
  if (target.kind() == Kind::kService) return {lookups.ServiceHost(target.name(), target.ns())};
  const auto& hosts = target.Spec<net::ServiceEntry>().hosts();
  return {hosts.begin(), hosts.end()};
}

void AddTarget(Node reference, const std::shared_ptr<const net::ClientTLSSettings>& tls,
               DraftConditions* conditions, PolicyConversion* conversion, Lookups& lookups) {
  const ConfigObject& policy = *conversion->object;
  PolicyConversion::Target target;
  const Referred referred = Resolve(reference, policy.ns(), lookups);
  const std::string wrong = CheckTarget(reference, referred);
  if (!wrong.empty()) {
    conditions->Fail(kAccepted, {"TargetNotFound", StrCat("targetRefs invalid: ", wrong)});
  } else {
    target.resolved = true;
    target.key = KeyOf(*referred.object);
    const ConfigPtr winner = Winner(policy, reference, lookups);
    if (winner != nullptr) {
      conditions->Fail(kAccepted,
                       {"Conflicted", StrCat("Conflicts with BackendTLSPolicy \"", winner->name().str(),
                                             "\" targeting the same backend")});
    } else {
      std::optional<std::string> section;
      if (const auto name = reference.Find("sectionName").text(); !name.empty()) section = name;
      for (std::string& host : HostsOf(*referred.object, lookups))
        conversion->rules.push_back({conversion->object, target.key, std::move(host), section, tls});
    }
  }
  target.conditions = conditions->all();
  conversion->targets.push_back(std::move(target));
}

}  // namespace

PolicyConversion ConvertBackendTlsPolicy(const ConfigPtr& policy, Lookups& lookups) {
  PolicyConversion conversion;
  conversion.object = policy;
  conversion.ignored = IsIgnored(*policy);
  const Node references = SpecOf(*policy).Find("targetRefs");
  DraftConditions conditions;
  if (conversion.ignored) {
    conditions.Fail(kAccepted,
                    {"IgnoredByIstio", StrCat("Ignored by Istio due to annotation ", kIgnore, "=true")});
    for (size_t i = 0; i < references.size(); ++i)
      conversion.targets.push_back({.key = {}, .resolved = false, .conditions = conditions.all()});
    return conversion;
  }
  conditions.Set(kAccepted, kAccepted, "Configuration is valid");
  conditions.Set(kResolvedRefs, kResolvedRefs, "Configuration is valid");
  const auto tls = ReadTls(*policy, &conditions, lookups);
  // What is wrong with one target sticks to those after it.
  for (Node reference : references.elements()) AddTarget(reference, tls, &conditions, &conversion, lookups);
  return conversion;
}

}  // namespace fairlead::gateway_api
