#include <cstdlib>

#include "base/strings.h"
#include "envoy/config/trace/v3/datadog.pb.h"
#include "envoy/config/trace/v3/opentelemetry.pb.h"
#include "envoy/config/trace/v3/skywalking.pb.h"
#include "envoy/config/trace/v3/zipkin.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/tracers/opentelemetry/samplers/v3/dynatrace_sampler.pb.h"
#include "gen/naming/cluster_name.h"
#include "gen/telemetry/tracing_plan.h"
#include "gen/telemetry/traits.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::telemetry {
namespace {

namespace core = envoy::config::core::v3;
namespace trace = envoy::config::trace::v3;
using HcmTracing =
    envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager_Tracing;
using ProviderHeaders = google::protobuf::RepeatedPtrField<ExtensionProvider::HttpHeader>;

constexpr std::string_view kEnvironmentDetector =
    "envoy.tracers.opentelemetry.resource_detectors.environment";
constexpr std::string_view kDynatraceDetector = "envoy.tracers.opentelemetry.resource_detectors.dynatrace";
constexpr model::IstioVersion kZipkinHttpServiceSince = {1, 29, 0};
constexpr model::IstioVersion kZipkinContextOptionSince = {1, 28, 0};

struct Upstream {
  std::string host, cluster;
};

// nullopt where the service is not known: the provider then does not trace.
std::optional<Upstream> Find(const Traits& traits, const std::string& service, uint32_t port) {
  const std::string_view host = traits.telemetry.HostOf(service);
  if (host.empty()) return std::nullopt;
  return Upstream{std::string(host), OutboundClusterName(port, "", host)};
}

// As Go's url.JoinPath: one slash between, no doubled ones, dots resolved away.
std::string JoinPath(const std::string& host, std::string_view path) {
  std::vector<std::string_view> kept;
  for (const std::string_view part : Split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else {
      kept.push_back(part);
    }
  }
  std::string joined = host;
  for (const std::string_view part : kept) StrAppend(&joined, '/', part);
  if (path.ends_with('/') && !joined.ends_with('/')) joined += '/';
  return joined;
}

// Values by environment variable are the server's own environment in Istio; a mesh's files cannot name ours.
void AddHeaders(const ProviderHeaders& headers,
                google::protobuf::RepeatedPtrField<core::HeaderValueOption>* out) {
  for (const auto& header : headers) {
    core::HeaderValueOption* option = out->Add();
    option->set_append_action(core::HeaderValueOption::OVERWRITE_IF_EXISTS_OR_ADD);
    option->mutable_header()->set_key(header.name());
    option->mutable_header()->set_value(header.value());
  }
}

void SetHttpUri(const std::string& uri, const std::string& cluster, core::HttpUri* out) {
  out->set_uri(uri);
  out->set_cluster(cluster);
}

void SetGrpc(const Upstream& upstream, core::GrpcService* out) {
  out->mutable_envoy_grpc()->set_cluster_name(upstream.cluster);
  out->mutable_envoy_grpc()->set_authority(upstream.host);
}

trace::ZipkinConfig Zipkin(const Traits& traits, const ExtensionProvider::ZipkinTracingProvider& provider,
                           const Upstream& upstream) {
  trace::ZipkinConfig config;
  const std::string path = provider.path().empty() ? "/api/v2/spans" : provider.path();
  config.set_collector_endpoint_version(trace::ZipkinConfig::HTTP_JSON);
  config.set_trace_id_128bit(!provider.enable_64bit_trace_id());
  config.mutable_shared_span_context()->set_value(false);
  if (traits.version >= kZipkinHttpServiceSince) {
    core::HttpService* service = config.mutable_collector_service();
    SetHttpUri(StrCat("http://", upstream.host, path), upstream.cluster, service->mutable_http_uri());
    if (provider.has_timeout()) {
      *service->mutable_http_uri()->mutable_timeout() = provider.timeout();
    } else {
      proto::SetSeconds(5, service->mutable_http_uri()->mutable_timeout());
    }
    AddHeaders(provider.headers(), service->mutable_request_headers_to_add());
  } else {
    config.set_collector_cluster(upstream.cluster);
    config.set_collector_endpoint(path);
    config.set_collector_hostname(upstream.host);
  }
  if (traits.version >= kZipkinContextOptionSince &&
      provider.trace_context_option() ==
          ExtensionProvider::ZipkinTracingProvider::USE_B3_WITH_W3C_PROPAGATION) {
    config.set_trace_context_option(trace::ZipkinConfig::USE_B3_WITH_W3C_PROPAGATION);
  }
  return config;
}

using OpenTelemetryProvider = ExtensionProvider::OpenTelemetryTracingProvider;

void AddDetector(std::string_view name, std::string_view type, trace::OpenTelemetryConfig* out) {
  core::TypedExtensionConfig* detector = out->add_resource_detectors();
  detector->set_name(std::string(name));
  proto::PackEmpty(type, detector->mutable_typed_config());
}

void AddDetectors(const OpenTelemetryProvider& provider, bool enriched, trace::OpenTelemetryConfig* out) {
  constexpr std::string_view kPackage = "envoy.extensions.tracers.opentelemetry.resource_detectors.v3.";
  if (provider.resource_detectors().has_environment() ||
      (enriched && !provider.resource_detectors().has_dynatrace())) {
    AddDetector(kEnvironmentDetector, StrCat(kPackage, "EnvironmentResourceDetectorConfig"), out);
  }
  if (provider.resource_detectors().has_dynatrace()) {
    AddDetector(kDynatraceDetector, StrCat(kPackage, "DynatraceResourceDetectorConfig"), out);
    if (enriched && !provider.resource_detectors().has_environment()) {
      AddDetector(kEnvironmentDetector, StrCat(kPackage, "EnvironmentResourceDetectorConfig"), out);
    }
  }
}

// The sampler asks Dynatrace's API: a service of its own, or the one that spans go to. False: neither is
// there.
bool SetDynatraceSampler(const Traits& traits, const OpenTelemetryProvider& provider,
                         const Upstream& upstream, core::TypedExtensionConfig* out) {
  const auto& wanted = provider.dynatrace_sampler();
  envoy::extensions::tracers::opentelemetry::samplers::v3::DynatraceSamplerConfig config;
  config.set_tenant(wanted.tenant());
  config.set_cluster_id(wanted.cluster_id());
  config.set_root_spans_per_minute(wanted.root_spans_per_minute());
  core::HttpService* service = config.mutable_http_service();
  const ExtensionProvider::HttpService* settings = nullptr;
  if (wanted.has_http_service()) {
    const auto api = Find(traits, wanted.http_service().service(), wanted.http_service().port());
    if (!api) return false;
    settings = &wanted.http_service().http();
    SetHttpUri(JoinPath(api->host, settings->path()), api->cluster, service->mutable_http_uri());
  } else {
    if (!provider.has_http()) return false;
    settings = &provider.http();
    SetHttpUri(JoinPath(upstream.host, "api/v2/samplingConfiguration"), upstream.cluster,
               service->mutable_http_uri());
  }
  if (settings->has_timeout()) *service->mutable_http_uri()->mutable_timeout() = settings->timeout();
  AddHeaders(settings->headers(), service->mutable_request_headers_to_add());
  out->set_name("envoy.tracers.opentelemetry.samplers.dynatrace");
  proto::Pack(config, out->mutable_typed_config());
  return true;
}

bool SetOpenTelemetry(const Traits& traits, const OpenTelemetryProvider& provider, const Upstream& upstream,
                      trace::OpenTelemetryConfig* config) {
  const bool enriched =
      provider.service_attribute_enrichment() == ExtensionProvider::OTEL_SEMANTIC_CONVENTIONS;
  config->set_service_name(enriched ? traits.otel_service_name.str() : traits.service_cluster.str());
  if (provider.has_http()) {
    core::HttpService* service = config->mutable_http_service();
    SetHttpUri(JoinPath(upstream.host, provider.http().path()), upstream.cluster,
               service->mutable_http_uri());
    if (provider.http().has_timeout()) {
      *service->mutable_http_uri()->mutable_timeout() = provider.http().timeout();
    }
    AddHeaders(provider.http().headers(), service->mutable_request_headers_to_add());
  } else {
    SetGrpc(upstream, config->mutable_grpc_service());
    if (provider.grpc().has_timeout()) {
      *config->mutable_grpc_service()->mutable_timeout() = provider.grpc().timeout();
    }
    for (const auto& header : provider.grpc().initial_metadata()) {
      core::HeaderValue* value = config->mutable_grpc_service()->add_initial_metadata();
      value->set_key(header.name());
      value->set_value(header.value());
    }
  }
  AddDetectors(provider, enriched, config);
  return !provider.has_dynatrace_sampler() ||
         SetDynatraceSampler(traits, provider, upstream, config->mutable_sampler());
}

void SetProvider(std::string_view name, const google::protobuf::Message& config, uint32_t max_tag_length,
                 HcmTracing* out) {
  out->mutable_provider()->set_name(std::string(name));
  proto::Pack(config, out->mutable_provider()->mutable_typed_config());
  if (max_tag_length != 0) out->mutable_max_path_tag_length()->set_value(max_tag_length);
}

bool SetOpenTelemetryProvider(const Traits& traits, const OpenTelemetryProvider& provider, HcmTracing* out,
                              bool* own_sampler) {
  const auto upstream = Find(traits, provider.service(), provider.port());
  trace::OpenTelemetryConfig config;
  if (!upstream || !SetOpenTelemetry(traits, provider, *upstream, &config)) return false;
  *own_sampler = provider.has_dynatrace_sampler();
  SetProvider("envoy.tracers.opentelemetry", config, provider.max_tag_length(), out);
  return true;
}

}  // namespace

bool SetTracingProvider(const Traits& traits, const ExtensionProvider& provider, HcmTracing* out,
                        bool* own_sampler) {
  *own_sampler = false;
  switch (provider.provider_case()) {
    case ExtensionProvider::kZipkin: {
      const auto upstream = Find(traits, provider.zipkin().service(), provider.zipkin().port());
      if (!upstream) return false;
      SetProvider("envoy.tracers.zipkin", Zipkin(traits, provider.zipkin(), *upstream),
                  provider.zipkin().max_tag_length(), out);
      return true;
    }
    case ExtensionProvider::kDatadog: {
      const auto upstream = Find(traits, provider.datadog().service(), provider.datadog().port());
      if (!upstream) return false;
      trace::DatadogConfig config;
      config.set_collector_cluster(upstream->cluster);
      config.set_collector_hostname(upstream->host);
      config.set_service_name(traits.service_cluster.str());
      SetProvider("envoy.tracers.datadog", config, provider.datadog().max_tag_length(), out);
      return true;
    }
    case ExtensionProvider::kSkywalking: {
      const auto upstream = Find(traits, provider.skywalking().service(), provider.skywalking().port());
      if (!upstream) return false;
      trace::SkyWalkingConfig config;
      SetGrpc(*upstream, config.mutable_grpc_service());
      out->mutable_spawn_upstream_span()->set_value(true);
      SetProvider("envoy.tracers.skywalking", config, 0, out);
      return true;
    }
    case ExtensionProvider::kOpentelemetry:
      return SetOpenTelemetryProvider(traits, provider.opentelemetry(), out, own_sampler);
    default:
      return false;
  }
}

}  // namespace fairlead::gen::telemetry
