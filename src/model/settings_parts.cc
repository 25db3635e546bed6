#include "model/settings_parts.h"

#include <google/protobuf/util/field_mask_util.h>
#include <google/protobuf/util/message_differencer.h>

#include <string>
#include <utility>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"

namespace fairlead::model {
namespace {

using google::protobuf::util::FieldMaskUtil;
using google::protobuf::util::MessageDifferencer;
using istio::mesh::v1alpha1::MeshConfig;
using Fields = std::span<const std::string_view>;

// A field that a consumer begins to read is added to its part, and goes from kUnread.
constexpr std::string_view kRegistries[] = {"default_service_export_to", "discovery_selectors",
                                            "service_entry_visibility", "trust_domain"};
constexpr std::string_view kIndexes[] = {"default_destination_rule_export_to",
                                         "default_virtual_service_export_to", "root_namespace"};
constexpr std::string_view kScopes[] = {"outbound_traffic_policy", "root_namespace"};
constexpr std::string_view kProxyConfig[] = {"default_config"};
constexpr std::string_view kEndpoints[] = {"default_config.discovery_address", "locality_lb_setting",
                                           "service_settings", "zone_aware_lb_setting"};
constexpr std::string_view kClusters[] = {"ca_certificates",
                                          "connect_timeout",
                                          "default_config.proxy_headers",
                                          "default_traffic_policy",
                                          "dns_refresh_rate",
                                          "enable_auto_mtls",
                                          "h2_upgrade_policy",
                                          "inbound_cluster_stat_name",
                                          "inbound_traffic_policy",
                                          "locality_lb_setting",
                                          "outbound_cluster_stat_name",
                                          "outbound_traffic_policy",
                                          "tcp_keepalive",
                                          "tls_defaults",
                                          "trust_domain_aliases",
                                          "zone_aware_lb_setting"};
constexpr std::string_view kListeners[] = {"access_log_encoding",
                                           "access_log_file",
                                           "access_log_format",
                                           "ca_certificates",
                                           "default_config.connection_settings",
                                           "default_inbound_http_retry_policy",
                                           "default_providers",
                                           "disable_envoy_listener_log",
                                           "enable_envoy_access_log_service",
                                           "enable_tracing",
                                           "extension_providers",
                                           "inbound_cluster_stat_name",
                                           "mesh_mTLS",
                                           "outbound_cluster_stat_name",
                                           "path_normalization",
                                           "protocol_detection_timeout",
                                           "proxy_http_port",
                                           "proxy_inbound_listen_port",
                                           "proxy_listen_port",
                                           "tls_defaults",
                                           "trust_domain",
                                           "trust_domain_aliases"};
constexpr std::string_view kRoutes[] = {"default_http_retry_policy"};
constexpr std::string_view kAuthorization[] = {"extension_providers", "trust_domain", "trust_domain_aliases"};

// What of ingresses is said is read by a step of state/, before there are parts.
constexpr std::string_view kUnread[] = {"ca",
                                        "certificates",
                                        "config_sources",
                                        "enable_prometheus_merge",
                                        "hbone_idle_timeout",
                                        "ingress_class",
                                        "ingress_controller_mode",
                                        "ingress_selector",
                                        "ingress_service",
                                        "service_scope_configs",
                                        "verify_certificate_at_client"};

MeshConfigPtr CutDown(const MeshConfig& mesh, SettingsPart part) {
  google::protobuf::FieldMask mask;
  for (const std::string_view field : FieldsOf(part)) mask.add_paths(std::string(field));
  auto kept = std::make_shared<MeshConfig>();
  FieldMaskUtil::MergeMessageTo(mesh, mask, FieldMaskUtil::MergeOptions(), kept.get());
  return kept;
}

// `now` becomes `before` where they are equal.
template <typename Message>
void Keep(const std::shared_ptr<const Message>& before, std::shared_ptr<const Message>* now) {
  if (before != nullptr && (before == *now || MessageDifferencer::Equals(*before, **now))) *now = before;
}

bool Same(const Settings& a, const Settings& b) {
  return a.mesh == b.mesh && a.networks == b.networks && a.domain == b.domain &&
         a.cluster_id == b.cluster_id && a.root_namespace == b.root_namespace &&
         a.system_namespace == b.system_namespace && a.trust_domain == b.trust_domain &&
         a.compliance == b.compliance && a.gateways == b.gateways && a.features == b.features &&
         a.parts == b.parts;
}

// Settings of each part.
void CutDownAll(const Settings& before, Settings* settings) {
  static const auto* const no_networks = new std::shared_ptr<const istio::mesh::v1alpha1::MeshNetworks>(
      new istio::mesh::v1alpha1::MeshNetworks());
  Settings base = *settings;
  base.parts = {};
  base.cut_down = {};
  base.networks = *no_networks;
  for (size_t i = 0; i < kSettingsPartCount; ++i) {
    base.mesh = settings->parts[i];
    const SettingsPtr& known = before.cut_down[i];
    settings->cut_down[i] =
        known != nullptr && Same(*known, base) ? known : std::make_shared<const Settings>(base);
  }
}

}  // namespace

std::span<const std::string_view> FieldsOf(SettingsPart part) {
  static constexpr Fields kFields[kSettingsPartCount] = {kRegistries,  kIndexes,   kScopes,
                                                         kProxyConfig, kEndpoints, kClusters,
                                                         kListeners,   kRoutes,    kAuthorization};
  return kFields[static_cast<size_t>(part)];
}

std::span<const std::string_view> UnreadFields() { return kUnread; }

SettingsPtr WithPrevious(Settings settings, const SettingsPtr& previous) {
  const Settings none;
  const Settings& before = previous == nullptr ? none : *previous;
  Keep(before.mesh, &settings.mesh);
  Keep(before.networks, &settings.networks);
  for (size_t i = 0; i < kSettingsPartCount; ++i) {
    settings.parts[i] = CutDown(*settings.mesh, static_cast<SettingsPart>(i));
    Keep(before.parts[i], &settings.parts[i]);
  }
  CutDownAll(before, &settings);
  if (previous != nullptr && Same(settings, before)) return previous;
  return std::make_shared<const Settings>(std::move(settings));
}

}  // namespace fairlead::model
