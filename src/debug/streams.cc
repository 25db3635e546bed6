#include <chrono>

#include "base/strings.h"
#include "debug/object_json.h"
#include "debug/page_json.h"
#include "debug/tables.h"
#include "push/stream/pusher.h"

// Who is connected, and what of all that was sent has arrived.
namespace fairlead::debug {
namespace {

using push::StreamReport;
using xds::TypeId;

std::string_view TypeText(model::ProxyType type) {
  switch (type) {
    case model::ProxyType::kSidecar:
      return "sidecar";
    case model::ProxyType::kRouter:
      return "router";
    case model::ProxyType::kWaypoint:
      return "waypoint";
    case model::ProxyType::kZtunnel:
      return "ztunnel";
  }
  return "";
}

void Put(std::string_view key, const std::string& value, Json* out) {
  if (!value.empty()) (*out)[std::string(key)] = value;
}

// The reports that the query's namespace lets through.
std::vector<StreamReport> Reports(const Sources& sources, const Query& query) {
  std::vector<StreamReport> reports = sources.pusher->Report();
  const std::string ns = Value(query, "namespace");
  if (!ns.empty())
    std::erase_if(reports, [&](const StreamReport& report) { return report.scope->proxy->ns != ns; });
  return reports;
}

Json ResourceStatus(const StreamReport::OfType& type) {
  Json out = Json::object();
  Put("sent", type.status.nonce_sent, &out);
  Put("acked", type.status.nonce_acked, &out);
  out["sentTime"] = TimeText(type.times.sent);
  Put("lastError", type.status.error, &out);
  // What follows istiod does not tell.
  Put("nacked", type.status.nonce_nacked, &out);
  Put("sentVersion", type.status.version_sent, &out);
  Put("ackedVersion", type.status.version_acked, &out);
  Put("nackedVersion", type.status.version_nacked, &out);
  out["ackedTime"] = TimeText(type.times.acked);
  out["nackedTime"] = TimeText(type.times.nacked);
  if (type.status.refused.empty()) return out;
  // The proxy goes on with older versions, or without any, of what it was sent.
  constexpr size_t kMostNames = 100;
  out["olderSince"] = TimeText(type.times.behind);
  Json& older = out["older"] = Json::array();
  for (const xds::Refused& one : type.status.refused) {
    if (older.size() == kMostNames) break;
    Json& resource = older.emplace_back(Json{{"name", one.wanted->name.str()}});
    resource["wantedVersion"] = ToHex(one.wanted->hash);
    if (one.has != nullptr) resource["runningVersion"] = ToHex(one.has->hash);
  }
  return out;
}

Json SyncStatus(const StreamReport& report) {
  const model::Proxy& proxy = *report.scope->proxy;
  Json out = Json::object();
  Put("cluster_id", proxy.metadata.cluster_id, &out);
  Put("proxy", proxy.id, &out);
  Put("proxy_type", std::string(TypeText(proxy.type)), &out);
  Put("istio_version", proxy.metadata.istio_version, &out);
  constexpr std::pair<std::string_view, TypeId> kNamed[] = {{"cluster", TypeId::kCluster},
                                                            {"listener", TypeId::kListener},
                                                            {"route", TypeId::kRoute},
                                                            {"endpoint", TypeId::kEndpoint},
                                                            {"extensionconfig", TypeId::kExtension}};
  for (const auto& [name, type] : kNamed) {
    Put(StrCat(name, "_sent"), report.Of(type).status.nonce_sent, &out);
    Put(StrCat(name, "_acked"), report.Of(type).status.nonce_acked, &out);
  }
  for (const xds::TypeInfo& type : xds::kTypes) {
    const StreamReport::OfType& of_type = report.Of(type.id);
    if (!of_type.status.subscribed && of_type.status.nonce_sent.empty()) continue;
    out["resources"][std::string(type.url)] = ResourceStatus(of_type);
  }
  for (const StreamReport::OfObjects& type : report.objects)
    out["resources"][type.url] = ResourceStatus(type.of_type);
  return out;
}

Json Connection(const StreamReport& report) {
  Json out = {{"connectionId", report.connection},
              {"connectedAt", TimeText(report.connected_at)},
              {"address", report.peer}};
  if (report.track != push::kLiveTrack) out["track"] = report.track;
  return out;
}

Json DetailedConnection(const StreamReport& report) {
  Json out = Connection(report);
  const model::Locality& locality = report.scope->locality;
  if (!report.scope->labels.empty()) out["labels"] = LabelsJson(report.scope->labels);
  if (const auto& raw = report.scope->proxy->metadata.raw) {
    out["metadata"] = MessageJson("google.protobuf.Struct", raw->bytes());
  }
  if (!locality.empty()) {
    Json& at = out["locality"] = Json::object();
    Put("region", locality.region.str(), &at);
    Put("zone", locality.zone.str(), &at);
    Put("sub_zone", locality.subzone.str(), &at);
  }
  for (const xds::TypeInfo& type : xds::kTypes) {
    const xds::TypeStatus& status = report.Of(type.id).status;
    if (status.subscribed) out["watches"][std::string(type.url)] = status.names->names();
  }
  for (const StreamReport::OfObjects& type : report.objects) {
    const xds::TypeStatus& status = type.of_type.status;
    if (status.subscribed) out["watches"][type.url] = status.names->names();
  }
  return out;
}

template <typename Each>
Page ClientsPage(const std::vector<StreamReport>& reports, const Query& query, const Each& each) {
  Json out = {{"totalClients", reports.size()}};
  for (const StreamReport& report : reports) out["clients"].push_back(each(report));
  return JsonPage(out, query);
}

}  // namespace

Page SyncPage(const Sources& sources, const Query& query) {
  Json out = Json::array();
  for (const StreamReport& report : Reports(sources, query)) out.push_back(SyncStatus(report));
  return JsonPage(out, query);
}

Page ConnectionsPage(const Sources& sources, const Query& query) {
  return ClientsPage(Reports(sources, query), query, Connection);
}

Page TracksPage(const Sources& sources, const Query& query) {
  Json out = Json::array();
  for (const push::TrackReport& track : sources.pusher->Tracks()) {
    Json one = {{"name", track.name}, {"publications", track.publications}, {"proxies", track.streams}};
    if (track.snapshot != nullptr) {
      const std::chrono::duration<double> age = Clock::now() - track.published_at;
      one["revision"] = track.snapshot->revision;
      one["ageSeconds"] = age.count();
    }
    out.push_back(std::move(one));
  }
  return JsonPage(out, query);
}

Page AdsPage(const Sources& sources, const Query& query) {
  if (!Value(query, "push").empty()) {
    sources.push_all();
    return TextPage(200, StrCat("Pushed to ", sources.pusher->StreamCount(), " servers\n"));
  }
  std::vector<StreamReport> reports;
  if (Value(query, "proxyID").empty()) {
    reports = Reports(sources, query);
  } else if (auto found = FindConnection(sources, query)) {
    reports.push_back(*std::move(found));
  } else {
    return NotConnected();
  }
  return ClientsPage(reports, query, DetailedConnection);
}

}  // namespace fairlead::debug
