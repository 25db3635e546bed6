#ifndef FAIRLEAD_GEN_TELEMETRY_TRAITS_H_
#define FAIRLEAD_GEN_TELEMETRY_TRAITS_H_

#include <memory>
#include <string_view>

#include "base/interned.h"
#include "gen/telemetry/view.h"
#include "model/proxy.h"
#include "model/settings.h"

namespace fairlead::gen::telemetry {

// The literal tags of a workload's spans. Empty where no traces are tagged so, that proxies may share more.
struct TraceTags {
  Interned canonical_service, canonical_revision, mesh_id, ns, cluster_id;
  friend bool operator==(const TraceTags&, const TraceTags&) = default;
};

// The attributes of a proxy that decide about its access logs, traces and metrics. A plain value; no
// addresses and no pod names.
struct Traits {
  model::SettingsPtr settings;
  std::shared_ptr<const model::ExtensionSet> extensions;  // interned; null: has everything
  Interned proxy_config;                                  // ProxyConfig encoded; its tracing is read here
  TelemetryView telemetry;
  TraceTags tags;
  Interned service_cluster;    // node.cluster; "" where no tracing provider reports it
  Interned otel_service_name;  // likewise, for OpenTelemetry's semantic conventions
  model::IstioVersion version;
  bool router = false;

  bool HasExtension(std::string_view name) const { return extensions == nullptr || extensions->Has(name); }
  friend bool operator==(const Traits&, const Traits&) = default;
};

}  // namespace fairlead::gen::telemetry

#endif  // FAIRLEAD_GEN_TELEMETRY_TRAITS_H_
