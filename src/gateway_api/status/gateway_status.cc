#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "config/read/tree_json.h"
#include "config/read/tree_object.h"
#include "gateway_api/names.h"
#include "gateway_api/revision.h"
#include "gateway_api/status/conditions.h"
#include "gateway_api/status/instances.h"
#include "gateway_api/status/kinds.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::Node;
using config::SpecOf;
using Json = nlohmann::ordered_json;

constexpr std::string_view kAccepted = "Accepted";
constexpr std::string_view kProgrammed = "Programmed";
constexpr std::string_view kResolvedRefs = "ResolvedRefs";
constexpr std::string_view kListenersNotValid = "ListenersNotValid";
constexpr std::string_view kInsecureMode = "InsecureFrontendValidationMode";
constexpr std::string_view kAddressType = "networking.istio.io/address-type";

Node RootOf(const ConfigObject& object) { return object.Spec<config::Tree>().root(); }
Node StatusIn(const ConfigObject& object) { return RootOf(object).Find("status"); }

Json ListenerJson(const ConfigObject& owner, const ConvertedListener& listener, Node existing) {
  Json json;
  json["name"] = listener.name;
  json["attachedRoutes"] = 0;
  Json& kinds = json["supportedKinds"] = Json::array();
  for (const GroupKind& kind : listener.supported_kinds)
    kinds.push_back({{"group", kind.group}, {"kind", kind.kind}});
  json["conditions"] =
      MergedConditions(existing.Find("conditions"), owner.meta().generation, listener.conditions);
  return json;
}

// Listeners' statuses are made at their places, on top of what is there; what is there besides goes, unless
// its name is still that of a listener.
Json ListenersJson(const ConfigObject& owner, const std::vector<ConvertedListener>& listeners,
                   StatusView& view) {
  std::set<std::string> names;
  for (Node one : SpecOf(owner).Find("listeners").elements()) names.emplace(one.Find("name").text());
  const Node existing = StatusIn(owner).Find("listeners");
  Json list = Json::array();
  for (size_t i = 0; i < std::max(listeners.size(), existing.size()); ++i) {
    const Node before = existing.At(i);
    const std::string name =
        i < listeners.size() ? listeners[i].name : std::string(before.Find("name").text());
    if (names.erase(name) == 0) continue;
    Json json = i < listeners.size() ? ListenerJson(owner, listeners[i], before) : config::ToJson(before);
    json["attachedRoutes"] = view.Attached(owner, name);
    list.push_back(std::move(json));
  }
  return list;
}

std::set<InstancePort> PortsOf(const std::vector<ConvertedListener>& listeners, bool only_valid) {
  std::set<InstancePort> ports;
  for (const ConvertedListener& one : listeners) {
    if (one.server != nullptr && (one.valid || !only_valid))
      ports.insert({one.port, one.protocol == "UDP" && one.valid});
  }
  return ports;
}

void SetAccepted(const GatewayConversion& gateway, DraftConditions* conditions) {
  conditions->Set(kAccepted, kAccepted, "Resource accepted");
  if (gateway.error) return conditions->Fail(kAccepted, *gateway.error);
  const auto valid = std::count_if(gateway.listeners.begin(), gateway.listeners.end(),
                                   [](const ConvertedListener& one) { return one.valid; });
  if (valid == static_cast<int64_t>(gateway.listeners.size())) return;
  if (valid == 0) {
    conditions->Fail(kAccepted,
                     {std::string(kListenersNotValid), "None of the Gateway's listeners are valid"});
  } else {
    conditions->Set(kAccepted, kListenersNotValid, "One or more of the Gateway's listeners are invalid");
  }
}

// Whether clients without a valid certificate are let in somewhere; nothing where no client is asked.
std::optional<bool> IsInsecure(Node spec) {
  const Node frontend = spec.Find("tls").Find("frontend");
  if (frontend.IsNull()) return std::nullopt;
  const auto insecure = [](Node tls) {
    return tls.Find("validation").Find("mode").text() == "AllowInsecureFallback";
  };
  bool any = insecure(frontend.Find("default"));
  for (Node port : frontend.Find("perPort").elements()) any = any || insecure(port.Find("tls"));
  return any;
}

Json AddressJson(const std::string& address) {
  return {{"type", IsIpAddress(address) ? "IPAddress" : "Hostname"}, {"value", address}};
}

// Addresses outside of the cluster, else those inside that the Gateway asks for; without any, what the status
// said before stays.
Json AddressesJson(const ConfigObject& gateway, const GatewayInstances& instances) {
  std::vector<std::string> addresses = instances.external;
  if (addresses.empty()) {
    const std::string_view wanted = LabelOr(gateway.meta().annotations, kAddressType, "Hostname");
    if (wanted != "Hostname") addresses = instances.internal_ips;
    for (const std::string& host_and_port : instances.internal) {
      const std::string host = host_and_port.substr(0, host_and_port.rfind(':'));
      const auto in = [&host](const std::vector<std::string>& list) {
        return std::find(list.begin(), list.end(), host) != list.end();
      };
      if (wanted != "IPAddress" && !in(instances.pending) && !in(addresses)) addresses.push_back(host);
    }
  }
  if (addresses.empty()) return config::ToJson(StatusIn(gateway).Find("addresses"));
  Json list = Json::array();
  for (const std::string& address : addresses) list.push_back(AddressJson(address));
  return list;
}

// A list without one type of conditions.
Json WithoutType(Json conditions, std::string_view type) {
  Json kept = Json::array();
  for (Json& one : conditions) {
    if (!one.contains("type") || one["type"] != type) kept.push_back(std::move(one));
  }
  return kept;
}

Json RemoteStatus(const ConfigObject& gateway) {
  DraftConditions conditions;
  conditions.Set(kAccepted, kAccepted, "Resource accepted");
  conditions.Set(kProgrammed, kProgrammed, "This Gateway is remote; Istio will not program it");
  Json status;
  Json addresses = config::ToJson(SpecOf(gateway).Find("addresses"));
  if (!addresses.is_null()) status["addresses"] = std::move(addresses);
  status["conditions"] =
      MergedConditions(StatusIn(gateway).Find("conditions"), gateway.meta().generation, conditions.all());
  return status;
}

Json ConfiguredStatus(const GatewayConversion& gateway, StatusView& view) {
  const ConfigObject& object = *gateway.object;
  std::set<InstancePort> ports = PortsOf(gateway.listeners, false);
  int64_t sets = 0;
  for (const ListenerSetConversion& set : gateway.sets) {
    const std::set<InstancePort> of_set = PortsOf(set.listeners, true);
    ports.insert(of_set.begin(), of_set.end());
    sets += of_set.empty() ? 0 : 1;
  }
  const GatewayInstances instances = view.Instances(object.ns(), gateway.services, ports);
  DraftConditions conditions;
  SetAccepted(gateway, &conditions);
  conditions.Set(kResolvedRefs, kResolvedRefs, "All references resolved");
  conditions.FailIf(kResolvedRefs, gateway.backend_certificate_error);
  SetProgrammed(instances, gateway.services, &conditions);
  const std::optional<bool> insecure = IsInsecure(SpecOf(object));
  if (insecure == true) {
    conditions.Set(kInsecureMode, "ConfigurationChanged",
                   "Gateway is operating in AllowInsecureFallback mode for frontend validation");
  }
  const Node before = StatusIn(object);
  Json status;
  Json addresses = AddressesJson(object, instances);
  if (!addresses.is_null()) status["addresses"] = std::move(addresses);
  const Node sets_before = before.Find("attachedListenerSets");
  if (sets > 0) status["attachedListenerSets"] = sets;
  if (sets == 0 && !sets_before.IsNull()) status["attachedListenerSets"] = config::ToJson(sets_before);
  Json merged = MergedConditions(before.Find("conditions"), object.meta().generation, conditions.all());
  status["conditions"] =
      insecure == false ? WithoutType(std::move(merged), kInsecureMode) : std::move(merged);
  status["listeners"] = ListenersJson(object, gateway.listeners, view);
  return status;
}

void SetRefused(std::string_view message, DraftConditions* conditions) {
  conditions->Set(kAccepted, "NotAllowed", message, false);
  conditions->Set(kProgrammed, "NotAllowed", message, false);
}

Json SetStatus(const GatewayConversion& gateway, const ListenerSetConversion& set, StatusView& view) {
  using Outcome = ListenerSetConversion::Outcome;
  const ConfigObject& object = *set.object;
  DraftConditions conditions;
  const bool refused = set.outcome == Outcome::kUnsupported || set.outcome == Outcome::kNotAllowed;
  if (set.outcome == Outcome::kUnsupported) {
    SetRefused(StrCat("The \"", gateway.gateway_class.name, "\" GatewayClass does not support ListenerSet"),
               &conditions);
  } else if (set.outcome == Outcome::kNotAllowed) {
    SetRefused("The parent Gateway does not allow this reference; check the 'spec.allowedRoutes'",
               &conditions);
  } else {
    conditions.Set(kAccepted, kAccepted, "Resource accepted");
    SetProgrammed(view.Instances(gateway.object->ns(), gateway.services, PortsOf(set.listeners, false)),
                  gateway.services, &conditions);
    const ConfigError none_valid{std::string(kListenersNotValid),
                                 "None of the ListenerSet's listeners are valid"};
    if (!set.AnyValid()) {
      conditions.Fail(kAccepted, none_valid);
      conditions.Fail(kProgrammed, none_valid);
    }
    if (gateway.address_error) {
      conditions.Fail(kAccepted, {gateway.address_error->reason,
                                  "Parent not accepted: " + gateway.address_error->message});
    }
  }
  Json status;
  status["conditions"] =
      MergedConditions(StatusIn(object).Find("conditions"), object.meta().generation, conditions.all());
  if (!refused) status["listeners"] = ListenersJson(object, set.listeners, view);
  return status;
}

}  // namespace

Json GatewayClassStatus(const ConfigObject& object, StatusView& view) {
  const model::Features& features = view.features();
  if (!features.gateway_api || !InRevision(object, features.revision)) return {};
  if (FindController(SpecOf(object).Find("controllerName").text(), features) == nullptr) return {};
  DraftConditions conditions;
  conditions.Set(kAccepted, kAccepted, "Handled by Istio controller");
  Json status = Json::object();
  for (const Node::Entry& entry : StatusIn(object).entries())
    status[std::string(entry.key)] = config::ToJson(entry.value);
  status["conditions"] =
      MergedConditions(StatusIn(object).Find("conditions"), object.meta().generation, conditions.all());
  return status;
}

Json GatewayStatus(const ConfigObject& object, StatusView& view) {
  const GatewayConversionPtr gateway = view.Gateway(KeyOf(object));
  if (gateway == nullptr || gateway->outcome == GatewayConversion::Outcome::kNotOurs) return {};
  const bool remote = gateway->outcome == GatewayConversion::Outcome::kRemote;
  return remote ? RemoteStatus(object) : ConfiguredStatus(*gateway, view);
}

// The Gateway that it names says it.
Json ListenerSetStatus(const ConfigObject& object, StatusView& view) {
  const GatewayConversionPtr gateway = view.Gateway(GatewayOfSet(object));
  if (gateway == nullptr || gateway->outcome == GatewayConversion::Outcome::kNotOurs) return {};
  for (const ListenerSetConversion& set : gateway->sets) {
    if (KeyOf(*set.object) == KeyOf(object)) return SetStatus(*gateway, set, view);
  }
  return {};
}

}  // namespace fairlead::gateway_api
