#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "config/read/manifests.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/config/route/v3/route.pb.h"
#include "gen/patch/apply.h"
#include "proto/json.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: any EnvoyFilters, admitted or not, on a listener, a route configuration and a cluster.
// Whatever they are, messages stay messages, the same patches give the same, and another EnvoyFilter's patch,
// which comes last, is applied unless there is nothing left to patch.
namespace {

using fairlead::config::ConfigPtr;
using fairlead::config::ParseManifests;
using fairlead::fuzz::Require;
using fairlead::gen::patch::PatchList;
using fairlead::gen::patch::PatchOutcome;
using fairlead::gen::patch::PatchPtr;
using fairlead::gen::patch::PatchSet;
using fairlead::gen::patch::ReadPatches;
using fairlead::gen::patch::Side;

constexpr std::string_view kOther = R"(
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: other, namespace: zz}
spec:
  configPatches:
  - applyTo: LISTENER
    patch: {operation: MERGE, value: {tcp_backlog_size: 12345}}
  - applyTo: CLUSTER
    patch: {operation: MERGE, value: {cleanup_interval: 77s}}
  - applyTo: ROUTE_CONFIGURATION
    patch: {operation: MERGE, value: {request_headers_to_remove: [x-of-other]}}
)";

constexpr char kListener[] = R"({"name": "virtualInbound",
  "address": {"socketAddress": {"address": "0.0.0.0", "portValue": 15006}},
  "listenerFilters": [{"name": "dst", "typedConfig":
    {"@type": "type.googleapis.com/envoy.extensions.filters.listener.original_dst.v3.OriginalDst"}}],
  "filterChains": [{"name": "http", "filterChainMatch": {"destinationPort": 8080}, "filters": [
    {"name": "envoy.filters.network.http_connection_manager", "typedConfig": {
      "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      "routeConfig": {"name": "inbound|8080||", "virtualHosts": [{"name": "inbound|http|80", "domains": ["*"],
        "routes": [{"name": "default", "match": {"prefix": "/"}, "route": {"cluster": "inbound|8080||"}}]}]},
      "httpFilters": [{"name": "envoy.filters.http.router", "typedConfig":
        {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]}]})";
constexpr char kRoutes[] = R"({"name": "80", "virtualHosts": [{"name": "a:80", "domains": ["a"], "routes": [
  {"name": "one", "match": {"prefix": "/"}, "route": {"cluster": "x"}},
  {"name": "two", "match": {"prefix": "/"}, "redirect": {"hostRedirect": "y"}}]}]})";
constexpr char kCluster[] = R"({"name": "outbound|80||web.default.svc.cluster.local", "connectTimeout": "10s",
  "transportSocketMatches": [{"name": "tlsMode-istio", "transportSocket": {"name": "envoy.transport_sockets.tls",
    "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      "sni": "s"}}}]})";

template <typename Message>
Message FromJson(const char* json) {
  Message message;
  Require(
      message.ParseFromString(fairlead::proto::FromJson(Message::descriptor()->full_name(), json).value()),
      "the fuzzer's own message");
  return message;
}

PatchSet SetOf(const std::vector<ConfigPtr>& objects, Side side) {
  PatchList patches;
  for (const ConfigPtr& object : objects) {
    if (object->kind() != fairlead::config::Kind::kEnvoyFilter) continue;
    for (PatchPtr& patch : ReadPatches(object)) {
      if (patch->IsFor(side)) patches.push_back(std::move(patch));
    }
  }
  return PatchSet(side, std::move(patches));
}

// Patches twice, and hands out the one that was kept; false where it was removed.
template <typename Message, typename Patch>
bool Patched(const char* json, Patch&& patch, Message* out) {
  Message again = FromJson<Message>(json);
  *out = FromJson<Message>(json);
  const bool kept = patch(out);
  Require(patch(&again) == kept, "kept once only");
  Require(again.SerializeAsString().size() == out->SerializeAsString().size(), "patches give something else");
  Require(again.ParseFromString(out->SerializeAsString()), "no message any more");
  return kept;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::gen::patch;
  static const auto* const other = new std::vector<ConfigPtr>(
      ParseManifests(kOther, "other.yaml", fairlead::config::Admission::kPassed).objects);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<ConfigPtr> objects =
      ParseManifests(text, "fuzz.yaml", fairlead::config::Admission::kPassed).objects;
  objects.insert(objects.end(), other->begin(), other->end());
  for (const Side side : {Side::kInbound, Side::kOutbound, Side::kGateway}) {
    const PatchSet patches = SetOf(objects, side);
    envoy::config::listener::v3::Listener listener;
    const bool kept = Patched(
        kListener,
        [&](auto* message) {
          PatchOutcome outcome;
          return PatchListener(patches, message, &outcome);
        },
        &listener);
    Require(!kept || listener.tcp_backlog_size().value() == 12345, "another object's patch of a listener");
    envoy::config::cluster::v3::Cluster cluster;
    const bool stays = Patched(
        kCluster,
        [&](auto* message) {
          PatchOutcome outcome;
          return PatchCluster(patches, {}, message, &outcome);
        },
        &cluster);
    Require(!stays || cluster.cleanup_interval().seconds() == 77, "another object's patch of a cluster");
    envoy::config::route::v3::RouteConfiguration routes;
    Patched(
        kRoutes,
        [&](auto* message) {
          PatchOutcome outcome;
          PatchRoutes(patches, nullptr, message, &outcome);
          return true;
        },
        &routes);
    Require(!routes.request_headers_to_remove().empty(), "another object's patch of routes");
  }
  return 0;
}
