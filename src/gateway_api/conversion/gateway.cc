#include "gateway_api/conversion/gateway.h"

#include <algorithm>

#include "base/strings.h"
#include "config/derived_object.h"
#include "config/read/tree_object.h"
#include "gateway_api/conversion/derived_object.h"
#include "gateway_api/conversion/gateway_address.h"
#include "gateway_api/conversion/listener_conflicts.h"
#include "gateway_api/conversion/listener_tls.h"
#include "gateway_api/conversion/namespaces.h"
#include "gateway_api/names.h"
#include "istio/networking/v1alpha3/gateway.pb.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::Kind;
using config::Node;
using config::ObjectKey;
using config::SpecOf;

std::string InternalName(const ConfigObject& owner, std::string_view listener) {
  return StrCat(owner.name().str(), "~", kDerivedName, "~", listener);
}

Parent ParentOf(const ConfigObject& owner, const ConvertedListener& listener) {
  Parent parent;
  parent.internal_name = StrCat(owner.ns().str(), "/", InternalName(owner, listener.name));
  parent.allowed_kinds = listener.supported_kinds;
  parent.hosts.assign(listener.server->hosts().begin(), listener.server->hosts().end());
  parent.hostname = listener.hostname;
  parent.section = listener.name;
  parent.port = listener.port;
  parent.protocol = listener.protocol;
  return parent;
}

// The Istio Gateway of a listener, bound to the Services of the Gateway's proxies.
ConfigPtr DeriveGateway(const GatewayConversion& gateway, const ConfigObject& owner,
                        const ConvertedListener& listener) {
  LabelMap annotations;
  annotations.emplace(config::kParentsAnnotation,
                      StrCat(config::InfoOf(owner.kind()).name, "/", owner.name().str(), "/", listener.name,
                             ".", owner.ns().str()));
  annotations.emplace(config::kGatewaySemanticsAnnotation, config::kGatewaySemantics);
  annotations.emplace(config::kGatewayServiceAnnotation, Join(gateway.services, ","));
  annotations.emplace(config::kServiceAccountAnnotation,
                      GatewayServiceAccount(*gateway.object, gateway.gateway_class));
  if (owner.kind() == Kind::kListenerSet)
    annotations.emplace(config::kParentNamespaceAnnotation, gateway.object->ns().str());
  istio::networking::v1alpha3::Gateway spec;
  *spec.add_servers() = *listener.server;
  return MakeDerived(Kind::kGateway, owner.ns(), InternalName(owner, listener.name), owner,
                     std::move(annotations), std::move(spec));
}

std::vector<ConvertedListener> ConvertListeners(const ConfigObject& owner, Node gateway,
                                                const ListenerConflicts& conflicts, Lookups& lookups) {
  std::vector<ConvertedListener> listeners;
  const auto own = conflicts.find(KeyOf(owner));
  for (Node node : SpecOf(owner).Find("listeners").elements()) {
    const std::string name(node.Find("name").text());
    if (own != conflicts.end() && own->second.contains(name)) {
      listeners.push_back(ConflictedListener(owner, node, own->second.at(name), lookups));
    } else {
      listeners.push_back(BuildListener(owner, gateway, node, lookups));
    }
  }
  return listeners;
}

// `only_valid`: routes cannot be attached to bad listeners of ListenerSets, as they can to those of Gateways.
void AddOutputs(const ConfigObject& owner, const std::vector<ConvertedListener>& listeners, bool only_valid,
                GatewayConversion* gateway) {
  auto parents = std::make_shared<Parents>();
  for (const ConvertedListener& listener : listeners) {
    if (listener.server == nullptr || (only_valid && !listener.valid)) continue;
    parents->push_back(ParentOf(owner, listener));
    if (listener.valid) gateway->derived.emplace_back(KeyOf(owner), DeriveGateway(*gateway, owner, listener));
  }
  if (!parents->empty()) gateway->parents.emplace_back(KeyOf(owner), std::move(parents));
}

std::vector<ConfigPtr> AllowedSets(const ConfigObject& gateway, const std::vector<ConfigPtr>& sets,
                                   Lookups& lookups) {
  std::vector<ConfigPtr> allowed;
  for (const ConfigPtr& set : sets) {
    if (TakesListenerSets(SpecOf(gateway), gateway.ns(), set->ns(), lookups)) allowed.push_back(set);
  }
  return allowed;
}

void ConvertSets(const std::vector<ConfigPtr>& sets, const std::vector<ConfigPtr>& allowed,
                 const ListenerConflicts& conflicts, GatewayConversion* gateway, Lookups& lookups) {
  using Outcome = ListenerSetConversion::Outcome;
  const GroupKind gateway_kind = GroupKindOf(Kind::kKubernetesGateway);
  for (const ConfigPtr& set : sets) {
    if (ReferredKind(SpecOf(*set).Find("parentRef"), gateway_kind) != gateway_kind) continue;
    ListenerSetConversion& converted = gateway->sets.emplace_back();
    converted.object = set;
    if (!gateway->gateway_class.info->listener_sets) {
      converted.outcome = Outcome::kUnsupported;
    } else if (std::find(allowed.begin(), allowed.end(), set) == allowed.end()) {
      converted.outcome = Outcome::kNotAllowed;
    } else if (gateway->outcome == GatewayConversion::Outcome::kWithoutAddress) {
      converted.outcome = Outcome::kWithoutAddress;
    } else {
      converted.listeners = ConvertListeners(*set, SpecOf(*gateway->object), conflicts, lookups);
      AddOutputs(*set, converted.listeners, true, gateway);
    }
  }
}

MaybeError CheckParameters(const ConfigObject& gateway, Lookups& lookups) {
  constexpr std::string_view kReason = "InvalidParameters";
  const Node reference = SpecOf(gateway).Find("infrastructure").Find("parametersRef");
  if (reference.IsNull()) return std::nullopt;
  const GroupKind kind = ReferredKind(reference);
  if (kind != GroupKindOf(Kind::kConfigMap)) {
    return ConfigError{std::string(kReason), StrCat("Unsupported parametersRef group/kind ", kind.group, "/",
                                                    kind.kind, ", only ConfigMap is supported")};
  }
  const std::string_view name = reference.Find("name").text();
  if (lookups.Has(Kind::kConfigMap, gateway.ns(), name)) return std::nullopt;
  return ConfigError{std::string(kReason),
                     StrCat("parametersRef ConfigMap ", gateway.ns().str(), "/", name, " does not exist")};
}

}  // namespace

bool ListenerSetConversion::AnyValid() const {
  // Of one whose listeners are not looked at, none is known to be bad.
  if (outcome == Outcome::kWithoutAddress) return true;
  return std::any_of(listeners.begin(), listeners.end(), [](const ConvertedListener& listener) {
    return listener.server != nullptr && listener.valid;
  });
}

GatewayConversion ConvertGateway(const ConfigPtr& object, Lookups& lookups) {
  using Outcome = GatewayConversion::Outcome;
  GatewayConversion gateway;
  gateway.object = object;
  const Node spec = SpecOf(*object);
  gateway.gateway_class = FindGatewayClass(spec.Find("gatewayClassName").text(), lookups);
  if (gateway.gateway_class.info == nullptr) return gateway;
  const std::vector<ConfigPtr> sets = lookups.SetsOf(KeyOf(*object));
  GatewayAddress address = AddressOf(*object, gateway.gateway_class, lookups.domain());
  gateway.services = std::move(address.services);
  gateway.error = gateway.address_error = std::move(address.error);
  gateway.outcome = gateway.gateway_class.info->remote          ? Outcome::kRemote
                    : gateway.services.empty() && gateway.error ? Outcome::kWithoutAddress
                                                                : Outcome::kConverted;
  ListenerConflicts conflicts;
  std::vector<ConfigPtr> allowed;
  if (gateway.gateway_class.info->listener_sets) {
    allowed = AllowedSets(*object, sets, lookups);
    conflicts = FindListenerConflicts(*object, allowed, lookups.features().udp_routes);
  }
  if (gateway.outcome != Outcome::kRemote)
    gateway.backend_certificate_error = CheckBackendCertificate(*object, lookups);
  if (gateway.outcome == Outcome::kConverted) {
    gateway.listeners = ConvertListeners(*object, spec, conflicts, lookups);
    AddOutputs(*object, gateway.listeners, false, &gateway);
  }
  ConvertSets(sets, allowed, conflicts, &gateway, lookups);
  if (gateway.outcome == Outcome::kConverted && !gateway.error)
    gateway.error = CheckParameters(*object, lookups);
  return gateway;
}

ObjectKey GatewayOfSet(const ConfigObject& set) {
  const Node reference = SpecOf(set).Find("parentRef");
  return {Kind::kKubernetesGateway, ReferredNamespace(reference, set.ns()), reference.Find("name").text()};
}

}  // namespace fairlead::gateway_api
