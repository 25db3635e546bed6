#include "agent/bootstrap/node.h"

#include <initializer_list>

#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

constexpr char kName[] = "istio-proxy";

// The first of the labels that the workload has.
const json* FirstLabel(const json& metadata, std::initializer_list<const char*> keys) {
  const auto labels = metadata.find("LABELS");
  if (labels == metadata.end() || !labels->is_object()) return nullptr;
  for (const char* key : keys) {
    const auto found = labels->find(key);
    if (found != labels->end() && found->is_string()) return &*found;
  }
  return nullptr;
}

std::string NameOrDefault(const std::string& name, const json& metadata) {
  if (!name.empty() && name != kName) return name;
  const std::string ns = JsonString(metadata, "NAMESPACE");
  if (const json* app =
          FirstLabel(metadata, {"app", "app.kubernetes.io/name", "service.istio.io/canonical-name"}))
    return StrCat(app->get<std::string>(), ".", ns);
  const std::string workload = JsonString(metadata, "WORKLOAD_NAME");
  if (!workload.empty()) return StrCat(workload, ".", ns);
  return ns.empty() ? kName : StrCat(kName, ".", ns);
}

}  // namespace

std::string NodeId(const Options& options) {
  const std::string address = options.addresses.empty() ? "" : options.addresses.front();
  const std::string domain =
      options.domain.empty() ? StrCat(options.pod_namespace, ".svc.cluster.local") : options.domain;
  return StrCat(options.type, "~", address, "~", options.pod_name, ".", options.pod_namespace, "~", domain);
}

std::string ServiceCluster(const Options& options) {
  const json& metadata = options.metadata;
  const std::string traced = JsonString(options.proxy_config, "tracingServiceName");
  if (!traced.starts_with("CANONICAL_NAME"))
    return NameOrDefault(traced.empty() ? JsonString(options.proxy_config, "serviceCluster") : kName,
                         metadata);
  const std::string workload = JsonString(metadata, "WORKLOAD_NAME");
  const json* label =
      FirstLabel(metadata, {"service.istio.io/canonical-name", "app.kubernetes.io/name", "app"});
  const std::string canonical =
      label != nullptr ? label->get<std::string>() : (workload.empty() ? kName : workload);
  const std::string ns = JsonString(metadata, "NAMESPACE");
  if (traced == "CANONICAL_NAME_AND_NAMESPACE" && !ns.empty()) return StrCat(canonical, ".", ns);
  return NameOrDefault(canonical, metadata);
}

json BuildNode(const Options& options) {
  json locality = json::object();
  const auto parts = Split(options.locality, '/');
  constexpr const char* kNames[] = {"region", "zone", "sub_zone"};
  for (size_t i = 0; i < parts.size() && i < std::size(kNames); ++i) {
    if (!parts[i].empty()) locality[kNames[i]] = parts[i];
  }
  return {{"id", NodeId(options)},
          {"cluster", ServiceCluster(options)},
          {"locality", std::move(locality)},
          {"metadata", options.metadata}};
}

}  // namespace fairlead::agent
