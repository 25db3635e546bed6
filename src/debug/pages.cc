#include "debug/pages.h"

#include <charconv>
#include <set>
#include <utility>

#include "base/strings.h"
#include "debug/page_json.h"
#include "debug/tables.h"

namespace fairlead::debug {
namespace {

Page ListPage(const Sources&, const Query& query) {
  Json names = Json::array();
  for (const PageInfo& page : Pages()) {
    if (page.name != "list" && !page.http_only) names.push_back(page.name);
  }
  return JsonPage(names, query);
}

bool Always(const Query&) { return true; }
bool WherePushed(const Query& query) { return !Value(query, "push").empty(); }

std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 3], byte, 16).ptr == &text[i + 3]) {
      out.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      out.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out;
}

}  // namespace

const std::vector<PageInfo>& Pages() {
  static const auto* pages = new std::vector<PageInfo>{
      {"adsz",
       "Connected proxies, what they are and what they watch; a POST of ?push=true sends them everything "
       "again",
       AdsPage, false, WherePushed},
      {"ambientz", "Not in this version: workloads of ztunnels", AmbientPage},
      {"authorizationz", "AuthorizationPolicies by namespace", AuthorizationPage},
      {"cachez", "Resources that proxies were sent, by type; ?sizes for their bytes", CachePage},
      {"clusterz", "The clusters that are read, and whether they have synced", ClustersPage},
      {"config_dump", "What the proxy of ?proxyID= was sent, as Envoy's own config dump", ConfigDumpPage},
      {"configz", "Istio's and the Gateway API's objects, with file and line", ConfigPage},
      {"connections", "Connected proxies", ConnectionsPage},
      {"diagnostics",
       "What is wrong with objects and files now; ?severity=error, ?namespace=", DiagnosticsPage},
      {"ecdsz", "Extension configurations that the proxy of ?proxyID= was sent", ExtensionDumpPage},
      {"edsz", "Endpoints that the proxy of ?proxyID= was sent", EndpointDumpPage},
      {"endpointShardz", "Endpoints by service, namespace and registry", EndpointsPage},
      {"endpointz", "As endpointShardz", EndpointsPage},
      {"force_disconnect", "By POST: ends the stream of the proxy of ?proxyID=, which connects again",
       DisconnectPage, false, Always},
      {"gatewayapi", "Statuses of Gateway API objects, Ingresses, ServiceEntries, and of what proxies reject",
       StatusPage},
      {"inject", "Not in this version: the injector's template", InjectPage},
      {"instancesz", "What connected proxies serve: services and ports", InstancesPage},
      {"list", "The names of these pages", ListPage},
      {"mcsz", "Multi-cluster services: what each cluster exports and imports", MultiClusterPage},
      {"mesh", "The MeshConfig that holds", MeshPage},
      {"ndsz", "The name table that the proxy of ?proxyID= was sent", NameTableDumpPage},
      {"networkz", "Gateways of other networks", NetworksPage},
      {"originz", "The objects that each resource of the proxy of ?proxyID= was made from", OriginsPage},
      {"pprof/heap", "Memory of the allocator; ?arenas for all it tells", HeapPage, true},
      {"pprof/profile", "Where CPU time goes for ?seconds=30, for `go tool pprof`", CpuProfilePage, true},
      {"push_status", "What is odd in the mesh as it is served", PushStatusPage},
      {"pushcontext", "The snapshot that is served: its revision, policies, networks", PushContextPage},
      {"registryz", "Services", RegistryPage},
      {"rejectz", "What connected proxies reject, why, and which policies are not in force there; ?proxyID=",
       RejectionsPage},
      {"resourcesz", "The kinds of objects that are read", KindsPage},
      {"sidecarz", "What the proxy of ?proxyID= may see: services, routes, rules", SidecarPage},
      {"syncz", "What connected proxies were sent, and whether they took it", SyncPage},
      {"telemetryz", "Telemetries by namespace; those of the proxy of ?proxyID=", TelemetryPage},
      {"trackz", "Tracks: the live mesh and others beside it, and how many proxies follow each", TracksPage,
       true},
      {"transportz", "Connections of the gRPC listeners: peers, their names, calls and bytes", TransportPage,
       true},
  };
  return *pages;
}

std::string Value(const Query& query, const std::string& name) {
  const auto at = query.find(name);
  return at == query.end() ? std::string() : at->second;
}

Query ParseQuery(std::string_view text) {
  Query query;
  for (std::string_view part : Split(text, '&')) {
    const size_t equals = part.find('=');
    if (part.empty()) continue;
    if (equals == std::string_view::npos) {
      query.emplace(Unescape(part), "");
    } else {
      query.emplace(Unescape(part.substr(0, equals)), Unescape(part.substr(equals + 1)));
    }
  }
  return query;
}

Page MakePage(const Sources& sources, std::string_view name_and_query, std::string_view ns) {
  const size_t mark = name_and_query.find('?');
  const std::string_view name = name_and_query.substr(0, mark);
  Query query = mark == std::string_view::npos ? Query() : ParseQuery(name_and_query.substr(mark + 1));
  if (!ns.empty()) {
    query.erase("namespace");
    query.emplace("namespace", ns);
  }
  for (const PageInfo& page : Pages()) {
    if (page.name != name || page.http_only) continue;
    if (!ns.empty() && page.acts != nullptr && page.acts(query))
      return TextPage(403, StrCat(name, " is for operators: workloads may look at their own namespace\n"));
    return page.make(sources, query);
  }
  return TextPage(404, StrCat("there is no page ", name, "; \"list\" names them\n"));
}

std::optional<push::StreamReport> FindConnection(const Sources& sources, const Query& query) {
  const std::string proxy_id = Value(query, "proxyID"), ns = Value(query, "namespace");
  for (push::StreamReport& report : sources.pusher->Report()) {
    if (report.connection.find(proxy_id) == std::string::npos) continue;
    if (ns.empty() || report.scope->proxy->ns == ns) return std::move(report);
  }
  return std::nullopt;
}

Page WithoutProxy(const Sources& sources, const Query& query) {
  constexpr size_t kMost = 100;
  const std::string ns = Value(query, "namespace");
  std::set<std::string> names;
  for (const push::StreamReport& report : sources.pusher->Report()) {
    if (ns.empty() || report.scope->proxy->ns == ns)
      names.insert(report.connection.substr(0, report.connection.rfind('-')));
  }
  std::string text = "A proxyID must be given in the query\n";
  StrAppend(&text, names.empty() ? "No proxy is connected" : "Connected are", "\n");
  size_t left = kMost;
  for (const std::string& name : names) {
    if (left-- == 0) break;
    StrAppend(&text, "  ", name, "\n");
  }
  if (names.size() > kMost) StrAppend(&text, "  and ", names.size() - kMost, " more\n");
  return TextPage(400, std::move(text));
}

}  // namespace fairlead::debug
