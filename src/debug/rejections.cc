#include "push/stream/rejections.h"

#include "base/strings.h"
#include "debug/object_json.h"
#include "debug/page_json.h"
#include "debug/tables.h"
#include "push/stream/rejection_report.h"

// What connected proxies reject.
namespace fairlead::debug {
namespace {

using push::RejectedResource;

std::string_view RunningText(RejectedResource::Running running) {
  switch (running) {
    case RejectedResource::Running::kNothing:
      return "nothing";
    case RejectedResource::Running::kOlder:
      return "older";
    case RejectedResource::Running::kUnknown:
      return "unknown";
  }
  return "";
}

// {"kind","namespace","name","file","line"}; what is left out is not known.
Json OriginJson(const Sources& sources, const cache::ResourceOrigin& origin) {
  const auto key = push::KeyOf(origin);
  if (!key) return {{"name", origin.str()}};
  const config::ConfigPtr object = sources.find_object(*key);
  const config::ObjectKey named = object == nullptr ? *key : config::KeyOf(*object);
  Json out = {
      {"kind", config::InfoOf(named.kind).name}, {"namespace", named.ns.str()}, {"name", named.name.str()}};
  if (object != nullptr && !object->origin().file.empty()) {
    out["file"] = object->origin().file.str();
    out["line"] = object->origin().line;
  }
  return out;
}

Json OriginsJson(const Sources& sources, const cache::Origins& origins) {
  Json out = Json::array();
  for (const cache::ResourceOrigin& origin : origins) out.push_back(OriginJson(sources, origin));
  return out;
}

Json ResourceJson(const Sources& sources, const RejectedResource& resource) {
  Json out = {{"name", resource.name},
              {"since", TimeText(resource.since)},
              {"reason", resource.reason},
              {"running", RunningText(resource.running)},
              {"wantedVersion", ToHex(resource.wanted_version)}};
  if (resource.running_version != Hash128{}) out["runningVersion"] = ToHex(resource.running_version);
  out["changed"] = OriginsJson(sources, resource.changed);
  out["madeFrom"] = OriginsJson(sources, resource.origins);
  Json policies = Json::array();
  for (const push::OutdatedPolicy& policy : push::OutdatedPolicies(resource)) {
    Json one = OriginJson(sources, policy.policy);
    if (policy.gone) one["gone"] = true;
    policies.push_back(std::move(one));
  }
  if (!policies.empty()) out["notInForce"] = std::move(policies);
  return out;
}

Json RejectionJson(const Sources& sources, const push::Rejection& rejection) {
  const xds::TypeInfo& type = xds::InfoOf(rejection.type);
  Json out = {{"proxy", rejection.proxy->id},
              {"type", type.name},
              {"typeUrl", type.url},
              {"since", TimeText(rejection.since)},
              {"error", rejection.error}};
  if (rejection.track != push::kLiveTrack) out["track"] = rejection.track;
  Json& resources = out["resources"] = Json::array();
  for (const RejectedResource& one : rejection.resources) resources.push_back(ResourceJson(sources, one));
  if (rejection.more > 0) out["more"] = rejection.more;
  return out;
}

}  // namespace

Page RejectionsPage(const Sources& sources, const Query& query) {
  const std::string ns = Value(query, "namespace"), id = Value(query, "proxyID");
  Json out = Json::array();
  for (const push::Rejection& rejection : sources.rejections->Current()) {
    if (!ns.empty() && rejection.proxy->ns != ns) continue;
    if (id.empty() || rejection.proxy->id.find(id) != std::string::npos)
      out.push_back(RejectionJson(sources, rejection));
  }
  return JsonPage(out, query);
}

}  // namespace fairlead::debug
