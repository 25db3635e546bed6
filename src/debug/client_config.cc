#include "debug/client_config.h"

#include <google/protobuf/any.pb.h>
#include <re2/re2.h>

#include "base/hash.h"
#include "base/strings.h"
#include "debug/redaction.h"

namespace fairlead::debug {
namespace {

using envoy::admin::v3::ClientResourceStatus;
using envoy::service::status::v3::ClientConfig;
using envoy::service::status::v3::ClientStatusRequest;
using envoy::service::status::v3::ConfigStatus;
using envoy::type::matcher::v3::StringMatcher;
using envoy::type::matcher::v3::StructMatcher;
using envoy::type::matcher::v3::ValueMatcher;
using google::protobuf::Value;
using push::StreamReport;

void SetTime(push::WallTime time, google::protobuf::Timestamp* out) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  out->set_seconds(since / 1000000000);
  out->set_nanos(static_cast<int>(since % 1000000000));
}

ConfigStatus StatusOf(const xds::TypeStatus& status) {
  if (!status.error.empty()) return envoy::service::status::v3::ERROR;
  if (status.nonce_sent.empty()) return envoy::service::status::v3::NOT_SENT;
  return status.nonce_sent == status.nonce_acked ? envoy::service::status::v3::SYNCED
                                                 : envoy::service::status::v3::STALE;
}

ClientResourceStatus ClientStatusOf(const xds::TypeStatus& status) {
  switch (StatusOf(status)) {
    case envoy::service::status::v3::ERROR:
      return ClientResourceStatus::NACKED;
    case envoy::service::status::v3::SYNCED:
      return ClientResourceStatus::ACKED;
    default:
      return ClientResourceStatus::REQUESTED;
  }
}

bool Watched(const StreamReport::OfType& type) {
  return type.status.subscribed || !type.status.nonce_sent.empty();
}

void SetError(const StreamReport::OfType& type, ClientConfig::GenericXdsConfig* out) {
  if (type.status.error.empty()) return;
  SetTime(type.times.nacked, out->mutable_error_state()->mutable_last_update_attempt());
  out->mutable_error_state()->set_details(type.status.error);
  out->mutable_error_state()->set_version_info(type.status.version_nacked);
}

ClientConfig::GenericXdsConfig* AddConfig(const StreamReport::OfType& type, std::string_view url,
                                          ClientConfig* out) {
  ClientConfig::GenericXdsConfig* config = out->add_generic_xds_configs();
  config->set_type_url(std::string(url));
  config->set_config_status(StatusOf(type.status));
  if (type.times.sent != push::WallTime{}) SetTime(type.times.sent, config->mutable_last_updated());
  SetError(type, config);
  return config;
}

void AddResources(const StreamReport::OfType& type, const xds::TypeInfo& info, bool contents,
                  ClientConfig* out) {
  StringSet sent;
  if (type.status.sent != nullptr) {
    for (const xds::ResourceListPtr& list : type.status.sent->parts()) {
      for (const xds::ResourcePtr& resource : list->resources()) {
        sent.insert(resource->name.str());
        ClientConfig::GenericXdsConfig* config = AddConfig(type, info.url, out);
        config->set_name(resource->name.str());
        config->set_version_info(ToHex(resource->hash));
        config->set_client_status(ClientStatusOf(type.status));
        if (contents)
          config->mutable_xds_config()->ParseFromString(Redacted(info.id, resource->any.Unpacked()));
      }
    }
  }
  for (const std::string& name : type.status.names->names()) {
    if (sent.contains(name)) continue;
    ClientConfig::GenericXdsConfig* config = out->add_generic_xds_configs();
    config->set_type_url(std::string(info.url));
    config->set_name(name);
    config->set_config_status(envoy::service::status::v3::NOT_SENT);
    config->set_client_status(ClientResourceStatus::REQUESTED);
  }
}

bool MatchesText(const StringMatcher& matcher, std::string text) {
  std::string pattern;
  const auto fold = [&](const std::string& value) {
    return matcher.ignore_case() ? AsciiLower(value) : value;
  };
  text = fold(text);
  switch (matcher.match_pattern_case()) {
    case StringMatcher::kExact:
      return text == fold(matcher.exact());
    case StringMatcher::kPrefix:
      return text.starts_with(fold(matcher.prefix()));
    case StringMatcher::kSuffix:
      return text.ends_with(fold(matcher.suffix()));
    case StringMatcher::kContains:
      return text.find(fold(matcher.contains())) != std::string::npos;
    case StringMatcher::kSafeRegex:
      return re2::RE2::FullMatch(text, matcher.safe_regex().regex());
    default:
      return false;
  }
}

bool MatchesValue(const ValueMatcher& matcher, const Value* value) {
  if (matcher.match_pattern_case() == ValueMatcher::kPresentMatch)
    return (value != nullptr) == matcher.present_match();
  if (value == nullptr) return false;
  switch (matcher.match_pattern_case()) {
    case ValueMatcher::kNullMatch:
      return value->has_null_value();
    case ValueMatcher::kBoolMatch:
      return value->has_bool_value() && value->bool_value() == matcher.bool_match();
    case ValueMatcher::kStringMatch:
      return value->has_string_value() && MatchesText(matcher.string_match(), value->string_value());
    case ValueMatcher::kDoubleMatch: {
      if (!value->has_number_value()) return false;
      const auto& number = matcher.double_match();
      if (!number.has_range()) return value->number_value() == number.exact();
      return number.range().start() <= value->number_value() && value->number_value() < number.range().end();
    }
    case ValueMatcher::kListMatch:
      for (const Value& element : value->list_value().values()) {
        if (MatchesValue(matcher.list_match().one_of(), &element)) return true;
      }
      return false;
    default:
      return false;
  }
}

bool MatchesMetadata(const StructMatcher& matcher, const google::protobuf::Struct* metadata) {
  const Value* value = nullptr;
  const google::protobuf::Struct* in = metadata;
  for (const StructMatcher::PathSegment& segment : matcher.path()) {
    if (in == nullptr) return MatchesValue(matcher.value(), nullptr);
    const auto at = in->fields().find(segment.key());
    value = at == in->fields().end() ? nullptr : &at->second;
    in = value != nullptr && value->has_struct_value() ? &value->struct_value() : nullptr;
  }
  return MatchesValue(matcher.value(), value);
}

}  // namespace

ClientConfig SyncStatusOf(const StreamReport& report) {
  const model::Proxy& proxy = *report.scope->proxy;
  ClientConfig out;
  out.mutable_node()->set_id(proxy.id);
  auto& metadata = *out.mutable_node()->mutable_metadata()->mutable_fields();
  const auto put = [&](const char* key, const std::string& value) {
    if (!value.empty()) metadata[key].set_string_value(value);
  };
  put("CLUSTER_ID", proxy.metadata.cluster_id);
  put("NAMESPACE", proxy.metadata.ns);
  put("ISTIO_VERSION", proxy.metadata.istio_version);
  for (const xds::TypeInfo& type : xds::kTypes) {
    if (Watched(report.Of(type.id))) AddConfig(report.Of(type.id), type.url, &out);
  }
  return out;
}

ClientConfig ClientConfigOf(const StreamReport& report, bool contents) {
  const model::Proxy& proxy = *report.scope->proxy;
  ClientConfig out;
  out.mutable_node()->set_id(proxy.node_id);
  out.mutable_node()->set_cluster(proxy.cluster);
  if (proxy.metadata.raw != nullptr) *out.mutable_node()->mutable_metadata() = proxy.metadata.raw->Parse();
  out.set_client_scope(report.only ? std::string(xds::InfoOf(*report.only).name) : "ADS");
  for (const xds::TypeInfo& type : xds::kTypes) {
    if (Watched(report.Of(type.id))) AddResources(report.Of(type.id), type, contents, &out);
  }
  return out;
}

bool Matches(const ClientStatusRequest& request, const model::Proxy& proxy) {
  if (request.node_matchers().empty()) return true;
  google::protobuf::Struct metadata;
  if (proxy.metadata.raw != nullptr) metadata = proxy.metadata.raw->Parse();
  for (const auto& matcher : request.node_matchers()) {
    if (matcher.has_node_id() && !MatchesText(matcher.node_id(), proxy.node_id)) continue;
    bool all = true;
    for (const StructMatcher& wanted : matcher.node_metadatas())
      all = all && MatchesMetadata(wanted, &metadata);
    if (all) return true;
  }
  return false;
}

}  // namespace fairlead::debug
