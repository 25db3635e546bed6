#include "debug/pages.h"

#include <charconv>
#include <utility>

#include "base/strings.h"
#include "debug/page_json.h"
#include "debug/tables.h"

namespace fairlead::debug {
namespace {

Page ListPage(const Sources&, const Query& query) {
  Json names = Json::array();
  for (const PageInfo& page : Pages()) {
    if (page.name != "list") names.push_back(page.name);
  }
  return JsonPage(names, query);
}

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
      {"adsz", "Connected proxies, what they are and what they watch; ?push=true sends them everything again",
       AdsPage},
      {"config_dump", "What the proxy of ?proxyID= was sent, as Envoy's own config dump", ConfigDumpPage},
      {"configz", "Istio's and the Gateway API's objects", ConfigPage},
      {"connections", "Connected proxies", ConnectionsPage},
      {"ecdsz", "Extension configurations that the proxy of ?proxyID= was sent", ExtensionDumpPage},
      {"edsz", "Endpoints that the proxy of ?proxyID= was sent", EndpointDumpPage},
      {"endpointShardz", "Endpoints by service, namespace and registry", EndpointsPage},
      {"endpointz", "As endpointShardz", EndpointsPage},
      {"gatewayapi", "Statuses of Gateway API objects, Ingresses and ServiceEntries", StatusPage},
      {"list", "The names of these pages", ListPage},
      {"mesh", "The MeshConfig that holds", MeshPage},
      {"ndsz", "The name table that the proxy of ?proxyID= was sent", NameTableDumpPage},
      {"push_status", "What the last push found odd", PushStatusPage},
      {"registryz", "Services", RegistryPage},
      {"resourcesz", "The kinds of objects that are read", KindsPage},
      {"syncz", "What connected proxies were sent, and whether they took it", SyncPage},
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
    if (page.name == name) return page.make(sources, query);
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

}  // namespace fairlead::debug
