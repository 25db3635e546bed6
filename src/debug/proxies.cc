#include <algorithm>

#include "base/strings.h"
#include "debug/object_json.h"
#include "debug/page_json.h"
#include "debug/tables.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "model/protocol.h"
#include "push/stream/pusher.h"

// Connected proxies as the mesh sees them: what they serve and what they may see.
namespace fairlead::debug {
namespace {

Json Hosts(const std::vector<model::ServicePtr>& services) {
  Json out = Json::array();
  for (const model::ServicePtr& service : services) {
    Json ports = Json::array();
    for (const model::ServicePort& port : service->ports) ports.push_back(port.port);
    out.push_back({{"hostname", service->hostname.str()},
                   {"namespace", service->ns.str()},
                   {"ports", std::move(ports)}});
  }
  return out;
}

Json NameJson(const config::ConfigObject& object) {
  Json out = {{"name", object.name().str()}, {"namespace", object.ns().str()}};
  if (Json origin = OriginJson(object); !origin.is_null()) out["origin"] = std::move(origin);
  return out;
}

Json Names(const std::vector<mesh::VirtualServicePtr>& virtual_services) {
  Json out = Json::array();
  for (const mesh::VirtualServicePtr& one : virtual_services) out.push_back(NameJson(*one->object));
  return out;
}

Json Listeners(const mesh::SidecarScope& scope) {
  Json out = Json::array();
  const auto& egress = scope.imports->egress;
  for (size_t i = 0; i < egress.size(); ++i) {
    Json listener = Json::object();
    if (egress[i].spec != nullptr) {
      listener["spec"] =
          MessageJson("istio.networking.v1alpha3.IstioEgressListener", egress[i].spec->SerializeAsString());
    }
    listener["services"] = Hosts(egress[i].services);
    if (i < scope.virtual_services.size()) listener["virtualServices"] = Names(scope.virtual_services[i]);
    out.push_back(std::move(listener));
  }
  return out;
}

// By hostname, in order.
Json Rules(const mesh::ScopeImports& imports) {
  std::map<std::string_view, Json> by_host;
  for (const auto& [host, rules] : imports.destination_rules) {
    Json list = Json::array();
    for (const mesh::DestinationRulePtr& rule : rules) {
      for (const config::ConfigPtr& object : rule->objects) list.push_back(NameJson(*object));
    }
    by_host[host] = std::move(list);
  }
  Json out = Json::object();
  for (auto& [host, list] : by_host) out[std::string(host)] = std::move(list);
  return out;
}

Json ScopeJson(const mesh::SidecarScope& scope) {
  const mesh::ScopeImports& imports = *scope.imports;
  Json out = {{"namespace", imports.ns.str()}, {"sidecar", nullptr}};
  if (imports.object != nullptr) out["sidecar"] = ObjectJson(*imports.object);
  if (imports.outbound_traffic_policy != nullptr) {
    out["outboundTrafficPolicy"] = MessageJson("istio.networking.v1alpha3.OutboundTrafficPolicy",
                                               imports.outbound_traffic_policy->SerializeAsString());
  }
  out["egressListeners"] = Listeners(scope);
  out["services"] = Hosts(imports.services);
  out["destinationRules"] = Rules(imports);
  return out;
}

Json TargetJson(const mesh::ServiceTarget& target) {
  return {
      {"Service", {{"hostname", target.service->hostname.str()}, {"namespace", target.service->ns.str()}}},
      {"Port",
       {{"name", target.port->name},
        {"port", target.port->port},
        {"protocol", model::ToString(target.port->protocol)},
        {"targetPort", target.target_port}}}};
}

}  // namespace

Page SidecarPage(const Sources& sources, const Query& query) {
  if (Value(query, "proxyID").empty()) return WithoutProxy(sources, query);
  const auto report = FindConnection(sources, query);
  return report ? JsonPage(ScopeJson(*report->scope->sidecar), query) : NotConnected();
}

Page OriginsPage(const Sources& sources, const Query& query) {
  if (Value(query, "proxyID").empty()) return WithoutProxy(sources, query);
  const auto report = FindConnection(sources, query);
  if (!report) return NotConnected();
  Json out = Json::object();
  for (const xds::TypeInfo& type : xds::kTypes) {
    const auto& sent = report->Of(type.id).status.sent;
    if (sent == nullptr) continue;
    Json& of_type = out[std::string(type.name)] = Json::object();
    for (const xds::ResourceListPtr& list : sent->parts()) {
      for (const xds::ResourcePtr& resource : list->resources()) {
        Json& origins = of_type[resource->name.str()] = Json::array();
        for (const cache::ResourceOrigin& origin : resource->origins) origins.push_back(origin.str());
      }
    }
  }
  return JsonPage(out, query);
}

Page InstancesPage(const Sources& sources, const Query& query) {
  Json out = Json::object();
  const std::string ns = Value(query, "namespace");
  for (const push::StreamReport& report : sources.pusher->Report()) {
    if (!ns.empty() && report.scope->proxy->ns != ns) continue;
    Json targets = Json::array();
    for (const mesh::ServiceTarget& target : *report.scope->targets) targets.push_back(TargetJson(target));
    out[report.scope->proxy->id] = std::move(targets);
  }
  return JsonPage(out, query);
}

// What was made lives as long as somebody has it: the resources that streams hold are all there is to see.
Page CachePage(const Sources& sources, const Query& query) {
  if (query.contains("clear"))
    return TextPage(400, "There is nothing to clear: what was made is found by all that it was made from.\n");
  std::map<std::string, std::map<std::string, size_t>> by_type;  // bytes by name
  for (const push::StreamReport& report : sources.pusher->Report()) {
    for (const xds::TypeInfo& type : xds::kTypes) {
      const auto& sent = report.Of(type.id).status.sent;
      if (sent == nullptr) continue;
      for (const xds::ResourceListPtr& list : sent->parts()) {
        for (const xds::ResourcePtr& resource : list->resources())
          by_type[std::string(type.url)].emplace(resource->name.str(), resource->any.Unpacked().size());
      }
    }
  }
  Json out = Json::object();
  size_t total = 0;
  for (const auto& [url, names] : by_type) {
    size_t bytes = 0;
    for (const auto& [name, size] : names) bytes += size;
    total += bytes;
    if (query.contains("sizes")) {
      out[url] = StrCat(bytes, "B");
      continue;
    }
    for (const auto& [name, size] : names) out[url].push_back(name);
  }
  if (query.contains("sizes")) out["total"] = StrCat(total, "B");
  return JsonPage(out, query);
}

Page DisconnectPage(const Sources& sources, const Query& query) {
  if (Value(query, "proxyID").empty()) return WithoutProxy(sources, query);
  const auto report = FindConnection(sources, query);
  if (!report) return NotConnected();
  sources.pusher->Disconnect(report->number);
  return TextPage(200, StrCat("OK: ", report->connection, " will connect again\n"));
}

}  // namespace fairlead::debug
