#ifndef FAIRLEAD_DEBUG_PAGES_H_
#define FAIRLEAD_DEBUG_PAGES_H_

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "config/store.h"
#include "push/publish/diagnostic_log.h"
#include "push/stream/pusher.h"
#include "push/stream/rejections.h"
#include "source/cluster/remote_clusters.h"

// Introspection: what this process knows and what it has told whom, as JSON in istiod's shapes (Istio:
// pilot/pkg/xds/debug.go), so that istioctl and scripts read it. A page is a function of its sources and a
// query; all of them are in the table of pages.cc. Thread-safe.
namespace fairlead::debug {

using Query = std::multimap<std::string, std::string>;

struct Page {
  int status = 200;  // as in HTTP
  std::string body;
  std::string content_type = "application/json";
};

class Findings;  // findings.h

struct Sources {
  push::Pusher* pusher = nullptr;
  // Every object of the mesh.
  std::function<std::vector<config::ConfigPtr>()> objects;
  // The same with those of other clusters.
  std::function<config::ObjectStore()> store;
  // Statuses of Gateway API objects, Ingresses and ServiceEntries, as a list; null before there is a mesh.
  std::function<nlohmann::ordered_json()> statuses;
  // What is wrong with objects and files now; never null.
  std::function<push::DiagnosticList()> diagnostics;
  // What is odd in the mesh as it is served.
  std::shared_ptr<Findings> findings;
  // An object as somebody wrote it, of one that was made of another that one; null where there is none.
  std::function<config::ConfigPtr(const config::ObjectKey& key)> find_object;
  // What connected proxies reject; must outlive the sources.
  const push::Rejections* rejections = nullptr;
  // The connections of the gRPC listeners, as a list; null before they listen.
  std::function<nlohmann::ordered_json()> transport;
  // The clusters beside the own one; null: there are none.
  std::function<std::vector<source::RemoteClusters::State>()> other_clusters;
  // Sends everything again to all proxies; returns at once.
  std::function<void()> push_all;
};

struct PageInfo {
  std::string_view name;  // below /debug/
  std::string_view help;
  Page (*make)(const Sources& sources, const Query& query);
  bool http_only = false;  // takes its time, and is not served over xDS
  // Whether the query makes it do something; null: it only shows. Over HTTP that takes a POST, which nobody
  // sends by following a link or a redirect; over xDS an operator.
  bool (*acts)(const Query& query) = nullptr;
};

const std::vector<PageInfo>& Pages();

// The page of a name and query, "config_dump?proxyID=a.default", for xDS; 404 where there is none. `ns`
// restricts what is shown to the proxies of a namespace, to which nothing is done (403); "": no restriction.
Page MakePage(const Sources& sources, std::string_view name_and_query, std::string_view ns = "");

// The value of a query's first entry of that name; "" where there is none.
std::string Value(const Query& query, const std::string& name);
Query ParseQuery(std::string_view text);

// The one connection whose name holds `proxy_id`, restricted to the query's namespace; nothing where there is
// none.
std::optional<push::StreamReport> FindConnection(const Sources& sources, const Query& query);

// What a page says that is of one proxy, where the query names none: which there are, the first hundred of
// them.
Page WithoutProxy(const Sources& sources, const Query& query);

}  // namespace fairlead::debug

#endif  // FAIRLEAD_DEBUG_PAGES_H_
