#include "gen/listener/connection_manager.h"

#include <algorithm>
#include <tuple>

#include "base/ip_address.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/connection_settings.h"
#include "gen/listener/filters/filter.h"
#include "gen/listener/traits.h"
#include "gen/telemetry/access_log.h"
#include "gen/telemetry/tracing.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using istio::mesh::v1alpha1::ForwardClientCertDetails;
using istio::mesh::v1alpha1::MeshConfig;
using istio::mesh::v1alpha1::ProxyConfig;
using ProxyHeaders = ProxyConfig::ProxyHeaders;

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

void SetPathNormalization(const MeshConfig& mesh, HttpConnectionManager* out) {
  using Normalization = MeshConfig::ProxyPathNormalization;
  out->set_path_with_escaped_slashes_action(HttpConnectionManager::KEEP_UNCHANGED);
  const auto kind = mesh.path_normalization().normalization();
  out->mutable_normalize_path()->set_value(kind != Normalization::NONE);
  if (kind == Normalization::MERGE_SLASHES || kind == Normalization::DECODE_AND_MERGE_SLASHES) {
    out->set_merge_slashes(true);
  }
  if (kind == Normalization::DECODE_AND_MERGE_SLASHES) {
    out->set_path_with_escaped_slashes_action(HttpConnectionManager::UNESCAPE_AND_FORWARD);
  }
}

void SetServer(const ProxyHeaders& headers, TrafficClass traffic, HttpConnectionManager* out) {
  // Sidecars' inbound and outbound differ in Istio by an old mistake that is kept: outbound says Envoy's
  // default, "envoy".
  if (traffic != TrafficClass::kOutbound) out->set_server_name("istio-envoy");
  if (!headers.has_server()) return;
  if (headers.server().disabled().value()) {
    out->clear_server_name();
    out->set_server_header_transformation(HttpConnectionManager::PASS_THROUGH);
  } else if (!headers.server().value().empty()) {
    out->set_server_name(headers.server().value());
  }
}

HttpConnectionManager::ForwardClientCertDetails ForwardingOf(ForwardClientCertDetails details) {
  switch (details) {
    case ForwardClientCertDetails::SANITIZE:
      return HttpConnectionManager::SANITIZE;
    case ForwardClientCertDetails::FORWARD_ONLY:
      return HttpConnectionManager::FORWARD_ONLY;
    case ForwardClientCertDetails::SANITIZE_SET:
      return HttpConnectionManager::SANITIZE_SET;
    case ForwardClientCertDetails::ALWAYS_FORWARD_ONLY:
      return HttpConnectionManager::ALWAYS_FORWARD_ONLY;
    default:
      return HttpConnectionManager::APPEND_FORWARD;
  }
}

void SetClientCertificateHeader(const ProxyHeaders& headers, HttpConnectionManager* out) {
  out->set_forward_client_cert_details(ForwardingOf(headers.forwarded_client_cert()));
  const auto& wanted = headers.set_current_client_cert_details();
  auto* details = out->mutable_set_current_client_cert_details();
  details->mutable_subject()->set_value(!wanted.has_subject() || wanted.subject().value());
  details->set_uri(!wanted.has_uri() || wanted.uri().value());
  details->set_dns(!wanted.has_dns() || wanted.dns().value());
  details->set_cert(wanted.cert().value());
  details->set_chain(wanted.chain().value());
}

void SetHttp1Options(const ProxyTraits& traits, const ProxyHeaders& headers, const HttpOptions& options,
                     HttpConnectionManager* out) {
  if (options.forward_proxy_port)
    out->mutable_http_protocol_options()->mutable_allow_absolute_url()->set_value(true);
  if (traits.http10 || traits.settings->features.http10)
    out->mutable_http_protocol_options()->set_accept_http_10(true);
  if (headers.preserve_http1_header_case().value()) {
    auto* formatter =
        out->mutable_http_protocol_options()->mutable_header_key_format()->mutable_stateful_formatter();
    formatter->set_name("preserve_case");
    proto::PackEmpty("envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig",
                     formatter->mutable_typed_config());
  }
}

// What a router believes of the proxies in front of it, and tells of its clients.
void SetTopology(const istio::mesh::v1alpha1::Topology& topology, HttpConnectionManager* out) {
  out->set_xff_num_trusted_hops(topology.num_trusted_proxies());
  const bool said = topology.forward_client_cert_details() != ForwardClientCertDetails::UNDEFINED;
  out->set_forward_client_cert_details(said ? ForwardingOf(topology.forward_client_cert_details())
                                            : HttpConnectionManager::SANITIZE_SET);
  if (out->forward_client_cert_details() != HttpConnectionManager::APPEND_FORWARD &&
      out->forward_client_cert_details() != HttpConnectionManager::SANITIZE_SET) {
    return;
  }
  auto* details = out->mutable_set_current_client_cert_details();
  details->mutable_subject()->set_value(true);
  details->set_cert(true);
  details->set_dns(true);
  details->set_uri(true);
}

// Envoy trusts the headers of internal clients alone, and by default there are none.
void SetInternalRanges(const std::vector<std::string>& ranges, HttpConnectionManager* out) {
  std::vector<IpPrefix> prefixes;
  for (const std::string& range : ranges) {
    if (const auto prefix = IpPrefix::ParseRange(range)) prefixes.push_back(*prefix);
  }
  std::sort(prefixes.begin(), prefixes.end(), [](const IpPrefix& a, const IpPrefix& b) {
    if (a.address.is_v6() != b.address.is_v6()) return b.address.is_v6();
    return std::tie(a.address, a.bits) < std::tie(b.address, b.bits);
  });
  for (const IpPrefix& prefix : prefixes) {
    auto* range = out->mutable_internal_address_config()->add_cidr_ranges();
    range->set_address_prefix(prefix.address.ToString());
    range->mutable_prefix_len()->set_value(prefix.bits);
  }
}

void SetGateway(const ProxyTraits& traits, const ProxyConfig& config, const HttpOptions& options,
                HttpConnectionManager* out) {
  SetTopology(config.gateway_topology(), out);
  out->mutable_http_protocol_options();
  SetInternalRanges(traits.internal_ranges, out);
  if (!options.http3) return;
  out->set_codec_type(HttpConnectionManager::HTTP3);
  out->mutable_http3_protocol_options();
}

void SetTimeouts(const ProxyTraits& traits, HttpConnectionManager* out) {
  if (traits.idle_timeout) {
    auto* idle = out->mutable_common_http_protocol_options()->mutable_idle_timeout();
    idle->set_seconds(*traits.idle_timeout / kNanosecondsPerSecond);
    idle->set_nanos(static_cast<int32_t>(*traits.idle_timeout % kNanosecondsPerSecond));
  }
  out->mutable_stream_idle_timeout();  // 0: streams may be idle as long as they like
}

}  // namespace

void SetConnectionManager(const ProxyTraits& traits, const HttpOptions& options, HttpConnectionManager* out) {
  ProxyConfig config;
  config.ParseFromString(traits.proxy_config.str());
  const ProxyHeaders& headers = config.proxy_headers();
  const model::Features& features = traits.settings->features;
  const bool inbound = options.traffic == TrafficClass::kInbound;
  const bool gateway = options.traffic == TrafficClass::kGateway;
  SetServer(headers, options.traffic, out);
  if (gateway) SetGateway(traits, config, options, out);
  if (inbound) {
    SetClientCertificateHeader(headers, out);
    if (model::IsHttp2(options.protocol)) out->mutable_http2_protocol_options();
  }
  SetHttp1Options(traits, headers, options, out);
  if (headers.request_id().disabled().value()) out->mutable_generate_request_id()->set_value(false);
  out->set_append_x_forwarded_port(headers.x_forwarded_port().enabled().value());
  SetPathNormalization(*traits.settings->mesh, out);
  const bool remote = options.traffic == TrafficClass::kOutbound && !options.forward_proxy_port &&
                      features.sidecar_remote_address;
  out->mutable_use_remote_address()->set_value(gateway || remote);
  if (!gateway && (remote || features.internal_networks)) SetInternalRanges(traits.internal_ranges, out);
  out->add_upgrade_configs()->set_upgrade_type("websocket");
  SetTimeouts(traits, out);
  ApplyConnectionSettings(EffectiveConnectionSettings(config.connection_settings(), gateway), out);
  telemetry::AddAccessLogs(traits, options.traffic, telemetry::LogPlace::kHttp, out->mutable_access_log());
  telemetry::SetTracing(traits, options.traffic, out);
  const FilterRequest request{traits, config, options};
  for (const HttpFilterBuilder add : HttpFilterOrder()) add(request, out->mutable_http_filters());
  out->set_proxy_100_continue(features.pass_100_continue);
}

void SetRouteDiscovery(const std::string& route_name, HttpConnectionManager* out) {
  proto::SetAds(/*wait=*/true, out->mutable_rds()->mutable_config_source());
  out->mutable_rds()->set_route_config_name(route_name);
}

}  // namespace fairlead::gen::listener
