#include "gen/telemetry/tracing.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <array>

#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/request_id/uuid/v3/uuid.pb.h"
#include "gen/telemetry/tracing_plan.h"
#include "gen/telemetry/traits.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::telemetry {
namespace {

namespace hcm = envoy::extensions::filters::network::http_connection_manager::v3;
using HcmTracing = hcm::HttpConnectionManager_Tracing;
using envoy::type::tracing::v3::CustomTag;
using istio::mesh::v1alpha1::ProxyConfig;
using Tags = std::vector<CustomTag>;

// PILOT_TRACE_SAMPLING's default, per cent.
constexpr model::IstioVersion kFormatterTagsSince = {1, 29, 0};
constexpr model::IstioVersion kNoPropagationSince = {1, 30, 0};

// Where the RBAC filter leaves what a dry run would have done.
constexpr std::array<std::pair<const char*, const char*>, 4> kDryRunTags = {{
    {"istio.authorization.dry_run.allow_policy.name", "istio_dry_run_allow_shadow_effective_policy_id"},
    {"istio.authorization.dry_run.allow_policy.result", "istio_dry_run_allow_shadow_engine_result"},
    {"istio.authorization.dry_run.deny_policy.name", "istio_dry_run_deny_shadow_effective_policy_id"},
    {"istio.authorization.dry_run.deny_policy.result", "istio_dry_run_deny_shadow_engine_result"},
}};

void AddLiteral(std::string_view name, std::string_view value, Tags* tags) {
  CustomTag& tag = tags->emplace_back();
  tag.set_tag(std::string(name));
  tag.mutable_literal()->set_value(std::string(value));
}

void AddIstioTags(const TraceTags& traits, Tags* tags) {
  AddLiteral("istio.canonical_revision", traits.canonical_revision, tags);
  AddLiteral("istio.canonical_service", traits.canonical_service, tags);
  AddLiteral("istio.mesh_id", traits.mesh_id, tags);
  AddLiteral("istio.namespace", traits.ns, tags);
  AddLiteral("istio.cluster_id", traits.cluster_id, tags);
  for (const auto& [name, key] : kDryRunTags) {
    CustomTag& tag = tags->emplace_back();
    tag.set_tag(name);
    tag.mutable_metadata()->mutable_kind()->mutable_request();
    tag.mutable_metadata()->mutable_metadata_key()->set_key("envoy.filters.http.rbac");
    tag.mutable_metadata()->mutable_metadata_key()->add_path()->set_key(key);
  }
}

// ProxyConfig's and Telemetry's custom tags have the same three kinds; Telemetry's have formatters besides.
template <typename Source>
void CopyTag(const std::string& name, const Source& source, Tags* tags) {
  CustomTag tag;
  tag.set_tag(name);
  if (source.has_environment()) {
    tag.mutable_environment()->set_name(source.environment().name());
    tag.mutable_environment()->set_default_value(source.environment().default_value());
  } else if (source.has_header()) {
    tag.mutable_request_header()->set_name(source.header().name());
    tag.mutable_request_header()->set_default_value(source.header().default_value());
  } else if (source.has_literal()) {
    tag.mutable_literal()->set_value(source.literal().value());
  }
  tags->push_back(std::move(tag));
}

void AddPlanTags(const Traits& traits, const TracingPlan& plan, Tags* tags) {
  for (const auto& [name, source] : plan.tagged->custom_tags()) {
    if (source.has_formatter()) {
      if (traits.version < kFormatterTagsSince) continue;
      CustomTag& tag = tags->emplace_back();
      tag.set_tag(name);
      tag.set_value(source.formatter().value());
      continue;
    }
    CopyTag(name, source, tags);
  }
}

void SetTags(const Traits& traits, const TracingPlan* plan, bool istio_tags, const ProxyConfig& config,
             HcmTracing* out) {
  Tags tags;
  if (istio_tags) AddIstioTags(traits.tags, &tags);
  if (plan != nullptr && plan->tagged != nullptr) {
    AddPlanTags(traits, *plan, &tags);
  } else {
    for (const auto& [name, source] : config.tracing().custom_tags()) {
      if (source.has_environment() || source.has_header() || source.has_literal())
        CopyTag(name, source, &tags);
    }
  }
  std::sort(tags.begin(), tags.end(),
            [](const CustomTag& a, const CustomTag& b) { return a.tag() < b.tag(); });
  for (CustomTag& tag : tags) *out->add_custom_tags() = std::move(tag);
}

void SetSampling(double random, HcmTracing* out) {
  out->mutable_client_sampling()->set_value(100);
  out->mutable_overall_sampling()->set_value(100);
  out->mutable_random_sampling()->set_value(random);
}

double ConfiguredSampling(const Traits& traits, const ProxyConfig& config) {
  const double sampling = config.tracing().sampling();
  if (sampling == 0) return traits.settings->features.trace_sampling;
  return sampling > 100 ? 1 : sampling;
}

void SetMaxPathLength(const ProxyConfig& config, HcmTracing* out) {
  const uint32_t length = config.tracing().max_path_tag_length();
  if (length != 0 && !out->has_max_path_tag_length()) out->mutable_max_path_tag_length()->set_value(length);
}

// As it was before there was a Telemetry API.
void SetConfiguredTracing(const Traits& traits, const ProxyConfig& config, hcm::HttpConnectionManager* out) {
  if (!traits.settings->mesh->enable_tracing()) return;
  HcmTracing* tracing = out->mutable_tracing();
  SetSampling(ConfiguredSampling(traits, config), tracing);
  SetTags(traits, nullptr, WantsIstioTags(config), config, tracing);
  SetMaxPathLength(config, tracing);
}

// Tracing.no_context_propagation, which the Envoy API that is compiled in does not have yet.
void DisablePropagation(HcmTracing* out) {
  constexpr int kNoContextPropagation = 13;
  out->GetReflection()->MutableUnknownFields(out)->AddVarint(kNoContextPropagation, 1);
}

// False where nothing is traced: the request ids are then as without a plan.
bool SetPlannedTracing(const Traits& traits, const TracingPlan& plan, const ProxyConfig& config,
                       hcm::HttpConnectionManager* out) {
  if (plan.disabled) return false;
  HcmTracing tracing;
  bool own_sampler = false;
  if (!SetTracingProvider(traits, *plan.provider, &tracing, &own_sampler)) return false;
  // A router's own span stands between those of its client and of its server.
  if (traits.router) tracing.mutable_spawn_upstream_span()->set_value(true);
  SetSampling(own_sampler ? 100 : plan.sampling.value_or(ConfiguredSampling(traits, config)), &tracing);
  SetTags(traits, &plan, plan.istio_tags, config, &tracing);
  SetMaxPathLength(config, &tracing);
  if (plan.disable_propagation && traits.version >= kNoPropagationSince) DisablePropagation(&tracing);
  *out->mutable_tracing() = std::move(tracing);
  return true;
}

}  // namespace

void SetTracing(const Traits& traits, TrafficClass traffic, hcm::HttpConnectionManager* out) {
  ProxyConfig config;
  config.ParseFromString(traits.proxy_config.str());
  bool use_request_id = true;
  const std::optional<TracingPlan> plan = PlanTracing(traits, traffic);
  if (!plan) {
    SetConfiguredTracing(traits, config, out);
  } else if (SetPlannedTracing(traits, *plan, config, out)) {
    use_request_id = plan->use_request_id;
  }
  envoy::extensions::request_id::uuid::v3::UuidRequestIdConfig uuid;
  uuid.mutable_use_request_id_for_trace_sampling()->set_value(use_request_id);
  proto::Pack(uuid, out->mutable_request_id_extension()->mutable_typed_config());
}

}  // namespace fairlead::gen::telemetry
