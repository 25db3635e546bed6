#include "base/ip_address.h"
#include "base/strings.h"
#include "config/check/names.h"
#include "envoy/config/rbac/v3/rbac.pb.h"
#include "envoy/extensions/path/match/uri_template/v3/uri_template_match.pb.h"
#include "gen/security/access_matchers.h"
#include "gen/security/access_values.h"
#include "proto/messages.h"

// Metadata is matched by a deprecated field, which is the one that gRPC and istiod use.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::gen::security {
namespace {

bool OfHost(const AccessCondition&, const std::string& value, Permission* out) {
  SetHeader(":authority", value, /*ignore_case=*/true, out->mutable_header());
  return true;
}

bool OfMethod(const AccessCondition&, const std::string& value, Permission* out) {
  SetHeader(":method", value, /*ignore_case=*/false, out->mutable_header());
  return true;
}

// In templates "{*}" stands for a segment, "{**}" for the rest.
bool OfPath(const AccessCondition&, const std::string& value, Permission* out) {
  if (value.find("{*}") == std::string::npos && value.find("{**}") == std::string::npos) {
    SetText(value, "", out->mutable_url_path()->mutable_path());
    return true;
  }
  envoy::extensions::path::match::uri_template::v3::UriTemplateMatchConfig config;
  config.set_path_template(ReplaceAll(ReplaceAll(value, "{*}", "*"), "{**}", "**"));
  out->mutable_uri_template()->set_name("uri-template");
  proto::Pack(config, out->mutable_uri_template()->mutable_typed_config());
  return true;
}

bool OfPort(const AccessCondition&, const std::string& value, Permission* out) {
  int64_t port = 0;
  if (!config::check::ParseGoInteger(value, &port) || port < 0 || port > 65535) return false;
  out->set_destination_port(static_cast<uint32_t>(port));
  return true;
}

bool OfDestinationIp(const AccessCondition&, const std::string& value, Permission* out) {
  return SetRange(value, out->mutable_destination_ip());
}

bool OfServerName(const AccessCondition&, const std::string& value, Permission* out) {
  SetText(value, "", out->mutable_requested_server_name());
  return true;
}

// "experimental.envoy.filters.a.b[c]" is the entry c in the metadata of the filter envoy.filters.a.b; a value
// in brackets is an element of a list.
bool OfFilterMetadata(const AccessCondition& condition, const Values& values, Permission* out) {
  std::string_view rest = condition.argument;
  const size_t bracket = rest.find('[');
  if (bracket == std::string_view::npos) return false;
  auto* metadata = out->mutable_metadata();
  metadata->set_filter(StrCat("envoy.filters.", rest.substr(0, bracket)));
  rest.remove_prefix(bracket + 1);
  if (rest.ends_with(']')) rest.remove_suffix(1);
  metadata->add_path()->set_key(std::string(rest));
  SetAnyOf(values, metadata->mutable_value(), [](std::string_view value, auto* matcher) {
    if (!value.starts_with('[') || !value.ends_with(']')) {
      return SetText(value, "", matcher->mutable_string_match());
    }
    const size_t first = value.find_first_not_of("[]");
    const size_t last = value.find_last_not_of("[]");
    const std::string_view inner = first == value.npos ? "" : value.substr(first, last - first + 1);
    SetText(inner, "", matcher->mutable_list_match()->mutable_one_of()->mutable_string_match());
  });
  return true;
}

constexpr AccessAttribute<Permission> kMore[] = {
    {.key = "destination.ip", .of_value = OfDestinationIp},
    {.key = "destination.port", .of_value = OfPort},
    {.key = "connection.sni", .of_value = OfServerName},
    {.key = "experimental.envoy.filters.", .of_values = OfFilterMetadata},
};

}  // namespace

constexpr AccessAttribute<Permission> kHost{.key = "", .of_value = OfHost, .http_only = true};
constexpr AccessAttribute<Permission> kMethod{.key = "", .of_value = OfMethod, .http_only = true};
constexpr AccessAttribute<Permission> kPath{.key = "", .of_value = OfPath, .http_only = true};
constexpr AccessAttribute<Permission> kPort{.key = "", .of_value = OfPort};

std::span<const AccessAttribute<Permission>> MorePermissions() { return kMore; }

}  // namespace fairlead::gen::security
