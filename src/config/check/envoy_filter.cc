#include <re2/re2.h>

#include <memory>

#include "config/check/kinds.h"
#include "config/check/parts.h"
#include "config/read/proto_reader.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"
#include "proto/descriptors.h"

namespace fairlead::config::check {
namespace {

using net::EnvoyFilter;
using Patch = EnvoyFilter::EnvoyConfigObjectPatch;
using Match = EnvoyFilter::EnvoyConfigObjectMatch;

enum class PatchClass { kListener, kRoute, kCluster, kOther };

PatchClass ClassOf(EnvoyFilter::ApplyTo apply_to) {
  switch (apply_to) {
    case EnvoyFilter::LISTENER:
    case EnvoyFilter::FILTER_CHAIN:
    case EnvoyFilter::NETWORK_FILTER:
    case EnvoyFilter::HTTP_FILTER:
      return PatchClass::kListener;
    case EnvoyFilter::ROUTE_CONFIGURATION:
    case EnvoyFilter::VIRTUAL_HOST:
    case EnvoyFilter::HTTP_ROUTE:
      return PatchClass::kRoute;
    case EnvoyFilter::CLUSTER:
      return PatchClass::kCluster;
    default:
      return PatchClass::kOther;
  }
}

// Envoy's message that a patch changes; "" where there is none.
const char* MessageOf(EnvoyFilter::ApplyTo apply_to) {
  switch (apply_to) {
    case EnvoyFilter::CLUSTER:
      return "envoy.config.cluster.v3.Cluster";
    case EnvoyFilter::LISTENER:
      return "envoy.config.listener.v3.Listener";
    case EnvoyFilter::ROUTE_CONFIGURATION:
      return "envoy.config.route.v3.RouteConfiguration";
    case EnvoyFilter::FILTER_CHAIN:
      return "envoy.config.listener.v3.FilterChain";
    case EnvoyFilter::HTTP_FILTER:
      return "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter";
    case EnvoyFilter::NETWORK_FILTER:
      return "envoy.config.listener.v3.Filter";
    case EnvoyFilter::VIRTUAL_HOST:
      return "envoy.config.route.v3.VirtualHost";
    case EnvoyFilter::HTTP_ROUTE:
      return "envoy.config.route.v3.Route";
    case EnvoyFilter::EXTENSION_CONFIG:
      return "envoy.config.core.v3.TypedExtensionConfig";
    case EnvoyFilter::BOOTSTRAP:
      return "envoy.config.bootstrap.v3.Bootstrap";
    case EnvoyFilter::LISTENER_FILTER:
      return "envoy.config.listener.v3.ListenerFilter";
    default:
      return "";
  }
}

// False where the patch is not looked at any further.
bool CheckFilterMatch(const Patch& patch, const EnvoyFilter::ListenerMatch::FilterMatch& filter,
                      const Spot& at) {
  constexpr std::string_view kManagers[] = {"envoy.filters.network.http_connection_manager",
                                            "envoy.http_connection_manager"};
  const auto fail = [](const Spot& where, std::string_view code, std::string message) {
    where.Error(code, std::move(message));
    return false;
  };
  if (filter.name().empty()) return fail(Spot(at, "name"), "missing-field", "this field is required");
  if (!filter.has_sub_filter()) return true;
  const Spot sub(at, "subFilter");
  if (patch.apply_to() != EnvoyFilter::HTTP_FILTER)
    return fail(sub, "conflict", "a subFilter is only matched where applyTo is HTTP_FILTER");
  if (filter.name() != kManagers[0] && filter.name() != kManagers[1])
    return fail(sub, "conflict", StrCat("a subFilter is one of ", kManagers[0]));
  if (filter.sub_filter().name().empty())
    return fail(Spot(sub, "name"), "missing-field", "this field is required");
  return true;
}

bool CheckMatch(const Patch& patch, const Spot& at) {
  const Match& match = patch.match();
  const PatchClass wanted = ClassOf(patch.apply_to());
  if (match.object_types_case() == Match::OBJECT_TYPES_NOT_SET || wanted == PatchClass::kOther) return true;
  const bool fits = wanted == PatchClass::kListener ? match.has_listener()
                    : wanted == PatchClass::kRoute  ? match.has_route_configuration()
                                                    : match.has_cluster();
  if (!fits) {
    at.Error("conflict", "what is matched is no object of the kind that applyTo names");
    return wanted != PatchClass::kListener;
  }
  if (!match.listener().filter_chain().has_filter()) return true;
  const Spot listener(at, "listener");
  const Spot chain(listener, "filterChain");
  return CheckFilterMatch(patch, match.listener().filter_chain().filter(), Spot(chain, "filter"));
}

// The value as the message that it is a part of. Types and fields that this version does not know are
// only warned about where Istio does no more.
void CheckValue(const Patch& patch, const Spot& at) {
  const auto* type = proto::WholeApiPool().FindMessageTypeByName(MessageOf(patch.apply_to()));
  if (type == nullptr) return at.Error("unknown-value", "applyTo names nothing that can be changed");
  const std::unique_ptr<google::protobuf::Message> message(
      proto::WholeApiMessages().GetPrototype(type)->New());
  at.Read(message.get());
}

void CheckPatch(const Patch& patch, const Spot& at) {
  if (patch.match().context() == EnvoyFilter::WAYPOINT) return;
  if (patch.apply_to() == EnvoyFilter::INVALID)
    return at.Field("applyTo").Error("missing-field", "this field is required");
  const Spot change(at, "patch"), match(at, "match");
  if (!patch.has_patch()) return change.Error("missing-field", "this field is required");
  if (patch.patch().operation() == EnvoyFilter::Patch::INVALID)
    return change.Field("operation").Error("missing-field", "this field is required");
  if (patch.patch().operation() != EnvoyFilter::Patch::REMOVE && !patch.patch().has_value())
    return change.Field("value").Error("missing-field", "only the operation REMOVE has no value");
  constexpr size_t kLongestVersion = 1024;
  const std::string& version = patch.match().proxy().proxy_version();
  if (version.size() <= kLongestVersion && !RE2(version, RE2::Quiet).ok()) {
    const Spot proxy(match, "proxy");
    return proxy.Field("proxyVersion").Refuse(RegexProblem(version));
  }
  if (!CheckMatch(patch, match)) return;
  if (patch.patch().has_value()) CheckValue(patch, Spot(change, "value"));
}

}  // namespace

void CheckEnvoyFilter(const google::protobuf::Message& message, const Spot& spec) {
  const auto& filter = static_cast<const EnvoyFilter&>(message);
  spec.Warn("unstable", "an EnvoyFilter depends on details that may change with every version");
  const Spot selector(spec, "workloadSelector"), patches(spec, "configPatches");
  if (filter.has_workload_selector())
    CheckSelectedLabels(filter.workload_selector().labels(), Spot(selector, "labels"));
  for (int i = 0; i < filter.config_patches_size(); ++i)
    CheckPatch(filter.config_patches(i), Spot(patches, static_cast<size_t>(i)));
}

}  // namespace fairlead::config::check
