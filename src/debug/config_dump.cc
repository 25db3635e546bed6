#include <algorithm>

#include "base/strings.h"
#include "debug/page_json.h"
#include "debug/redaction.h"
#include "debug/tables.h"
#include "push/stream/pusher.h"

// What one proxy was sent, in the shape of Envoy's own /config_dump, so that the two can be compared. Unlike
// istiod, nothing is generated anew for it: these are the resources that the stream has sent.
namespace fairlead::debug {
namespace {

using push::StreamReport;
using xds::TypeId;

constexpr std::string_view kAdmin = "type.googleapis.com/envoy.admin.v3.";

struct Dumped {
  std::string name;
  Json content;
};

std::vector<Dumped> ResourcesOf(const StreamReport& report, TypeId type) {
  std::vector<Dumped> out;
  const xds::ResourceSetPtr& sent = report.Of(type).status.sent;
  if (sent == nullptr) return out;
  for (const xds::ResourceListPtr& list : sent->parts()) {
    for (const xds::ResourcePtr& resource : list->resources()) {
      if (resource->any.empty()) continue;  // said to have, or sent without content
      out.push_back({resource->name.str(), AnyJson(Redacted(type, resource->any.Unpacked()))});
    }
  }
  std::sort(out.begin(), out.end(), [](const Dumped& a, const Dumped& b) { return a.name < b.name; });
  return out;
}

Json Empty(std::string_view message) { return {{"@type", StrCat(kAdmin, message)}}; }

// One section: a list of entries that each hold a resource and its version.
Json Section(const StreamReport& report, TypeId type, std::string_view message, std::string_view list,
             std::string_view field) {
  Json out = Empty(message);
  const std::string& version = report.Of(type).status.version_sent;
  for (Dumped& resource : ResourcesOf(report, type)) {
    out[std::string(list)].push_back(
        {{"versionInfo", version}, {std::string(field), std::move(resource.content)}});
  }
  return out;
}

Json Clusters(const StreamReport& report) {
  Json out = Empty("ClustersConfigDump");
  const std::string& version = report.Of(TypeId::kCluster).status.version_sent;
  if (!version.empty()) out["versionInfo"] = version;
  for (Dumped& resource : ResourcesOf(report, TypeId::kCluster)) {
    out["dynamicActiveClusters"].push_back(
        {{"versionInfo", version}, {"cluster", std::move(resource.content)}});
  }
  return out;
}

Json Listeners(const StreamReport& report) {
  Json out = Empty("ListenersConfigDump");
  const std::string& version = report.Of(TypeId::kListener).status.version_sent;
  if (!version.empty()) out["versionInfo"] = version;
  for (Dumped& resource : ResourcesOf(report, TypeId::kListener)) {
    out["dynamicListeners"].push_back(
        {{"name", resource.name},
         {"activeState", {{"versionInfo", version}, {"listener", std::move(resource.content)}}}});
  }
  return out;
}

Json WholeDump(const StreamReport& report, bool endpoints) {
  Json configs = Json::array({Empty("BootstrapConfigDump"), Clusters(report)});
  if (endpoints) {
    configs.push_back(Section(report, TypeId::kEndpoint, "EndpointsConfigDump", "dynamicEndpointConfigs",
                              "endpointConfig"));
  }
  configs.push_back(Listeners(report));
  configs.push_back(Empty("ScopedRoutesConfigDump"));
  configs.push_back(
      Section(report, TypeId::kRoute, "RoutesConfigDump", "dynamicRouteConfigs", "routeConfig"));
  configs.push_back(Section(report, TypeId::kSecret, "SecretsConfigDump", "dynamicActiveSecrets", "secret"));
  configs.push_back(Section(report, TypeId::kExtension, "EcdsConfigDump", "ecdsFilters", "ecdsFilter"));
  return {{"configs", std::move(configs)}};
}

// Of "cds,eds": the resources alone.
Json TypesDump(const StreamReport& report, std::string_view types) {
  Json configs = Json::array();
  for (std::string_view name : Split(types, ',')) {
    for (const xds::TypeInfo& type : xds::kTypes) {
      if (type.metric != AsciiLower(name)) continue;
      for (Dumped& resource : ResourcesOf(report, type.id)) configs.push_back(std::move(resource.content));
    }
  }
  return {{"configs", std::move(configs)}};
}

Page Dump(const Sources& sources, const Query& query, const std::string& types) {
  if (Value(query, "proxyID").empty()) return WithoutProxy(sources, query);
  const auto report = FindConnection(sources, query);
  if (!report) {
    return NotConnected();
  }
  if (!types.empty()) return JsonPage(TypesDump(*report, types), query);
  return JsonPage(WholeDump(*report, query.contains("include_eds")), query);
}

}  // namespace

Page ConfigDumpPage(const Sources& sources, const Query& query) {
  return Dump(sources, query, Value(query, "types"));
}
Page EndpointDumpPage(const Sources& sources, const Query& query) { return Dump(sources, query, "eds"); }
Page NameTableDumpPage(const Sources& sources, const Query& query) { return Dump(sources, query, "nds"); }
Page ExtensionDumpPage(const Sources& sources, const Query& query) { return Dump(sources, query, "ecds"); }

}  // namespace fairlead::debug
