#include "gateway_api/conversion/backend.h"

#include <utility>

#include "base/strings.h"
#include "gateway_api/names.h"
#include "gateway_api/reference_grant.h"

namespace fairlead::gateway_api {
namespace {

using config::Kind;
using config::Node;

constexpr std::string_view kRefNotPermitted = "RefNotPermitted";
constexpr std::string_view kInvalidKind = "InvalidKind";
constexpr std::string_view kNotFound = "BackendNotFound";

const GroupKind kHostname{std::string(kIstioGroup), "Hostname"};
const GroupKind kExperimentalBackend{std::string(kExperimentalGroup), "XBackend"};
const GroupKind kServiceImport{"multicluster.x-k8s.io", "ServiceImport"};

Backend Failed(std::string_view reason, std::string message) {
  Backend backend;
  backend.error = ConfigError{std::string(reason), std::move(message)};
  backend.fatal = reason == kInvalidDestination;
  return backend;
}

Backend MissingHost(Backend backend) {
  backend.error = ConfigError{std::string(kNotFound), StrCat("backend(", backend.host, ") not found")};
  return backend;
}

Backend OfService(const RouteView& view, std::string_view name, std::string_view ns) {
  Backend backend;
  backend.host = view.lookups.ServiceHost(name, ns);
  return view.lookups.Has(Kind::kService, ns, name) ? backend : MissingHost(std::move(backend));
}

// Of an import its Service is looked for, as in Istio. Without hosts of the cluster set, Services of several
// clusters are one anyway.
Backend OfImport(const RouteView& view, std::string_view name, std::string_view ns) {
  if (!view.lookups.features().mcs_hosts) return OfService(view, name, ns);
  Backend backend;
  backend.host = StrCat(name, ".", ns, ".svc.clusterset.local");
  return view.lookups.Has(Kind::kService, ns, name) ? backend : MissingHost(std::move(backend));
}

Backend OfHostname(const RouteView& view, Node reference, std::string_view ns) {
  if (!reference.Find("namespace").IsNull())
    return Failed(kInvalidDestination, "namespace may not be set with Hostname type");
  Backend backend;
  backend.host = reference.Find("name").text();
  return view.lookups.HasService(backend.host, ns) ? backend : MissingHost(std::move(backend));
}

// A pool without a usable picker has no Service.
Backend OfPool(const RouteView& view, std::string_view name, std::string_view ns) {
  if (!view.lookups.features().inference_pools) {
    return Failed(kInvalidKind,
                  "InferencePool is not enabled. To enable, set ENABLE_GATEWAY_API_INFERENCE_EXTENSION to "
                  "true in istiod");
  }
  if (name.find('.') != std::string_view::npos) {
    return Failed(
        kInvalidDestination,
        "InferencePool.Name invalid; the name of the InferencePool must be used, not the hostname.");
  }
  const config::ConfigPtr pool = view.lookups.Find(Kind::kInferencePool, ns, name);
  if (pool == nullptr) return Failed(kNotFound, StrCat("backend(", name, ") not found"));
  Backend backend;
  backend.host = view.lookups.ServiceHost(PoolServiceName(name), ns);
  backend.picker = PickerOf(*pool, view.lookups.domain());
  if (!backend.picker) return Failed(kNotFound, StrCat("backend(", backend.host, ") not found"));
  backend.port = kFirstPoolPort;
  return backend;
}

Backend OfKind(const RouteView& view, Node reference, const GroupKind& kind) {
  const std::string_view name = reference.Find("name").text();
  const std::string_view ns = ReferredNamespace(reference, view.route.ns());
  if (kind == kExperimentalBackend) {
    return Failed(kInvalidKind,
                  "The Alpha Gateway API is not enabled, XBackend is invalid. To enable, set "
                  "PILOT_ENABLE_ALPHA_GATEWAY_API to true in istiod.");
  }
  if (kind == GroupKindOf(Kind::kService)) {
    if (name.find('.') == std::string_view::npos) return OfService(view, name, ns);
    return Failed(kInvalidDestination,
                  "service name invalid; the name of the Service must be used, not the hostname.");
  }
  if (kind == kHostname) return OfHostname(view, reference, ns);
  if (kind == kServiceImport) return OfImport(view, name, ns);
  if (kind == GroupKindOf(Kind::kInferencePool)) return OfPool(view, name, ns);
  return Failed(kInvalidKind,
                StrCat("referencing unsupported backendRef: group \"", reference.Find("group").text(),
                       "\" kind \"", reference.Find("kind").text(), "\""));
}

}  // namespace

Backend ResolveBackend(const RouteView& view, Node reference) {
  const GroupKind kind = ReferredKind(reference, GroupKindOf(Kind::kService));
  const std::string_view name = reference.Find("name").text();
  const std::string_view own = view.route.ns();
  const std::string_view ns = ReferredNamespace(reference, own);
  if (view.wants_grants && ns != own && !IsGranted(view.route.kind(), own, kind, ns, name, view.lookups)) {
    return Failed(kRefNotPermitted, StrCat("backendRef ", name, "/", ns, " not accessible to a ",
                                           config::InfoOf(view.route.kind()).name, " in namespace \"", own,
                                           "\" (missing a ReferenceGrant?)"));
  }
  Backend backend = OfKind(view, reference, kind);
  if (backend.fatal || backend.host.empty() || backend.picker) return backend;
  const Node port = reference.Find("port");
  if (port.IsNull()) return Failed(kInvalidDestination, "port is required in backendRef");
  backend.port = static_cast<uint32_t>(port.Unsigned().value_or(0));
  return backend;
}

std::vector<WeightedBackend> WeightedBackends(Node references, int64_t* total) {
  std::vector<WeightedBackend> backends;
  *total = 0;
  for (Node reference : references.elements()) {
    const Node node = reference.Find("weight");
    const auto weight = static_cast<int32_t>(node.IsNull() ? 1 : node.Int().value_or(0));
    *total += weight;
    if (weight != 0) backends.push_back({reference, weight});
  }
  if (backends.size() == 1) backends.front().weight = 0;
  return backends;
}

}  // namespace fairlead::gateway_api
