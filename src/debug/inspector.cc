#include "debug/inspector.h"

#include <google/protobuf/any.pb.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "debug/access.h"
#include "debug/client_config.h"
#include "envoy/admin/v3/config_dump.pb.h"
#include "proto/json.h"

namespace fairlead::debug {
namespace {

using push::Inspection;
using Resources = absl::StatusOr<std::vector<xds::PlainResource>>;

constexpr std::string_view kDebug = "istio.io/debug";

std::string RootNamespace(const Sources& sources) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  return snapshot == nullptr ? "" : snapshot->settings->root_namespace;
}

Resources PageResource(const Sources& sources, const std::string& name, const std::string& ns) {
  constexpr std::string_view kOfOneProxy[] = {"config_dump", "edsz", "ndsz"};
  const std::string_view page = std::string_view(name).substr(0, name.find('?'));
  if (!ns.empty() &&
      std::find(std::begin(kOfOneProxy), std::end(kOfOneProxy), page) == std::end(kOfOneProxy)) {
    return absl::PermissionDeniedError(StrCat("workloads of ", ns, " may not see ", page));
  }
  google::protobuf::Any any;
  any.set_type_url(std::string(kDebug));
  any.set_value(MakePage(sources, name, ns).body);
  return std::vector<xds::PlainResource>{{name, any.SerializeAsString()}};
}

Resources SyncResources(const Sources& sources, const std::string& ns) {
  std::vector<xds::PlainResource> out;
  for (const push::StreamReport& report : sources.pusher->Report()) {
    if (!ns.empty() && report.scope->proxy->ns != ns) continue;
    const auto config = SyncStatusOf(report);
    if (config.generic_xds_configs().empty()) continue;  // an operator's tool
    google::protobuf::Any any;
    any.PackFrom(config);
    out.push_back({config.node().id(), any.SerializeAsString()});
  }
  return out;
}

Resources DumpResources(const Sources& sources, const std::string& proxy_id, const std::string& ns) {
  const Page page = MakePage(sources, StrCat("config_dump?include_eds&proxyID=", proxy_id), ns);
  if (page.status != 200) return absl::NotFoundError(page.body);
  const auto bytes = proto::FromJson("envoy.admin.v3.ConfigDump", page.body);
  envoy::admin::v3::ConfigDump dump;
  if (!bytes.ok() || !dump.ParseFromString(*bytes)) return absl::InternalError("the dump cannot be read");
  std::vector<xds::PlainResource> out;
  for (const google::protobuf::Any& section : dump.configs())
    out.push_back({section.type_url(), section.SerializeAsString()});
  return out;
}

}  // namespace

Resources Inspect(const Sources& sources, const Inspection& inspection) {
  const auto ns = MayInspect(inspection.peer.address, inspection.identity, RootNamespace(sources));
  if (!ns.ok()) return ns.status();
  if (inspection.type_url == "istio.io/connections") return PageResource(sources, "connections", *ns);
  if (inspection.type_url == StrCat(kDebug, "/syncz")) return SyncResources(sources, *ns);
  const bool dump = inspection.type_url == StrCat(kDebug, "/config_dump");
  if (!dump && inspection.type_url != kDebug) {
    return absl::UnimplementedError(StrCat(inspection.type_url, " is not served"));
  }
  if (inspection.names.size() != 1) return absl::InvalidArgumentError("exactly one name has to be asked for");
  return dump ? DumpResources(sources, inspection.names[0], *ns)
              : PageResource(sources, inspection.names[0], *ns);
}

absl::StatusOr<envoy::service::status::v3::ClientStatusResponse> ClientStatus(
    const Sources& sources, const push::StreamPeer& peer,
    const envoy::service::status::v3::ClientStatusRequest& request) {
  std::optional<model::PeerIdentity> identity;
  for (const std::string& text : peer.identities) {
    if (!identity) identity = model::ParseSpiffeId(text);
  }
  const auto ns = MayInspect(peer.address, identity, RootNamespace(sources));
  if (!ns.ok()) return ns.status();
  envoy::service::status::v3::ClientStatusResponse response;
  for (const push::StreamReport& report : sources.pusher->Report()) {
    const model::Proxy& proxy = *report.scope->proxy;
    if ((!ns->empty() && proxy.ns != *ns) || !Matches(request, proxy)) continue;
    *response.add_config() = ClientConfigOf(report, !request.exclude_resource_contents());
  }
  return response;
}

}  // namespace fairlead::debug
