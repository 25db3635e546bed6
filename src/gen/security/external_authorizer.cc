#include "gen/security/external_authorizer.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/go_url.h"
#include "base/strings.h"
#include "config/check/names.h"
#include "envoy/type/v3/http_status.pb.h"
#include "gen/naming/cluster_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "proto/messages.h"

// The older name of a list of headers still counts.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::gen::security {
namespace {

namespace core = envoy::config::core::v3;
namespace http = envoy::extensions::filters::http::ext_authz::v3;
namespace network = envoy::extensions::filters::network::ext_authz::v3;
using envoy::type::matcher::v3::ListStringMatcher;
using Provider = istio::mesh::v1alpha1::MeshConfig::ExtensionProvider;
using HttpProvider = Provider::EnvoyExternalAuthorizationHttpProvider;
using GrpcProvider = Provider::EnvoyExternalAuthorizationGrpcProvider;
using Headers = google::protobuf::RepeatedPtrField<std::string>;

constexpr int64_t kDefaultTimeoutSeconds = 600;
constexpr size_t kLongestName = 63;

bool IsAuthorizer(const Provider& provider) {
  return provider.has_envoy_ext_authz_http() || provider.has_envoy_ext_authz_grpc();
}

// The name is part of metadata keys.
bool IsGoodName(std::string_view name) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), good) &&
         !name.starts_with('-') && !name.ends_with('-');
}

// Returns null where there is none, or more than one.
const Provider* FindOnly(const istio::mesh::v1alpha1::MeshConfig& mesh, std::string_view name) {
  const Provider* found = nullptr;
  for (const Provider& provider : mesh.extension_providers()) {
    if (provider.name() != name || !IsAuthorizer(provider)) continue;
    if (found != nullptr) return nullptr;
    found = &provider;
  }
  return found;
}

// Sets what the filter answers where the authorizer cannot be asked; false where the text is no status of
// Envoy's.
bool SetStatus(const std::string& text, http::ExtAuthz* out) {
  if (text.empty()) return true;
  int64_t code = 0;
  if (!config::check::ParseGoInteger(text, &code) || code < 0 || code > 999 ||
      !envoy::type::v3::StatusCode_IsValid(static_cast<int>(code))) {
    return false;
  }
  out->mutable_status_on_error()->set_code(static_cast<envoy::type::v3::StatusCode>(code));
  return true;
}

template <typename Settings>
void SetTimeout(const Settings& provider, google::protobuf::Duration* out) {
  if (provider.has_timeout()) {
    *out = provider.timeout();
  } else {
    proto::SetSeconds(kDefaultTimeoutSeconds, out);
  }
}

// The fields that both kinds of provider share.
template <typename Settings>
bool SetShared(const Settings& provider, http::ExtAuthz* out) {
  out->set_failure_mode_allow(provider.fail_open());
  out->set_transport_api_version(core::ApiVersion::V3);
  if (provider.has_include_request_body_in_check()) {
    const auto& wanted = provider.include_request_body_in_check();
    auto* body = out->mutable_with_request_body();
    body->set_max_request_bytes(wanted.max_request_bytes());
    body->set_allow_partial_message(wanted.allow_partial_message());
    body->set_pack_as_bytes(wanted.pack_as_bytes());
  }
  return SetStatus(provider.status_on_error(), out);
}

// Names with a "*" at the start or the end are patterns.
void SetHeaders(const Headers& headers, ListStringMatcher* out) {
  for (std::string_view header : headers) {
    auto* pattern = out->add_patterns();
    pattern->set_ignore_case(true);
    if (header.starts_with('*')) {
      pattern->set_suffix(std::string(header.substr(1)));
    } else if (header.ends_with('*')) {
      pattern->set_prefix(std::string(header.substr(0, header.size() - 1)));
    } else {
      pattern->set_exact(std::string(header));
    }
  }
}

bool HaveWildcardAlone(const HttpProvider& provider) {
  for (const Headers* headers :
       {&provider.include_request_headers_in_check(), &provider.include_headers_in_check(),
        &provider.headers_to_downstream_on_deny(), &provider.headers_to_downstream_on_allow(),
        &provider.headers_to_upstream_on_allow()}) {
    if (std::find(headers->begin(), headers->end(), "*") != headers->end()) return true;
  }
  return false;
}

bool IsGoodPrefix(const std::string& prefix) {
  return prefix.empty() || (prefix.starts_with('/') && ParseUrl(prefix));
}

void SetAnswer(const HttpProvider& provider, http::HttpService* out) {
  const auto set = [](const Headers& headers, auto make) {
    if (!headers.empty()) SetHeaders(headers, make());
  };
  set(provider.headers_to_upstream_on_allow(),
      [out] { return out->mutable_authorization_response()->mutable_allowed_upstream_headers(); });
  set(provider.headers_to_downstream_on_deny(),
      [out] { return out->mutable_authorization_response()->mutable_allowed_client_headers(); });
  set(provider.headers_to_downstream_on_allow(),
      [out] { return out->mutable_authorization_response()->mutable_allowed_client_headers_on_success(); });
}

std::optional<ExternalAuthorizer> OfHttp(const HttpProvider& provider, const std::string& host,
                                         const std::string& cluster) {
  if (HaveWildcardAlone(provider) || !IsGoodPrefix(provider.path_prefix())) return std::nullopt;
  ExternalAuthorizer out;
  if (!SetShared(provider, &out.http)) return std::nullopt;
  http::HttpService* service = out.http.mutable_http_service();
  service->set_path_prefix(provider.path_prefix());
  service->mutable_server_uri()->set_uri(StrCat("http://", host));  // Envoy wants one and does not use it
  service->mutable_server_uri()->set_cluster(cluster);
  SetTimeout(provider, service->mutable_server_uri()->mutable_timeout());
  const Headers& included = provider.include_request_headers_in_check().empty()
                                ? provider.include_headers_in_check()
                                : provider.include_request_headers_in_check();
  if (!included.empty()) SetHeaders(included, out.http.mutable_allowed_headers());
  const auto& more = provider.include_additional_headers_in_check();
  for (const auto& [name, value] : std::map<std::string, std::string>(more.begin(), more.end())) {
    auto* header = service->mutable_authorization_request()->add_headers_to_add();
    header->set_key(name);
    header->set_value(value);
  }
  SetAnswer(provider, service);
  return out;
}

std::optional<ExternalAuthorizer> OfGrpc(const GrpcProvider& provider, const std::string& host,
                                         const std::string& cluster) {
  ExternalAuthorizer out;
  if (!SetShared(provider, &out.http)) return std::nullopt;
  core::GrpcService* service = out.http.mutable_grpc_service();
  service->mutable_envoy_grpc()->set_cluster_name(cluster);
  service->mutable_envoy_grpc()->set_authority(host);
  SetTimeout(provider, service->mutable_timeout());
  network::ExtAuthz& tcp = out.tcp.emplace();
  tcp.set_stat_prefix("tcp.");
  tcp.set_failure_mode_allow(provider.fail_open());
  tcp.set_transport_api_version(core::ApiVersion::V3);
  *tcp.mutable_grpc_service() = *service;
  return out;
}

std::string HostOf(const std::vector<ProviderService>& services, std::string_view service) {
  const auto found = std::find_if(services.begin(), services.end(),
                                  [service](const ProviderService& s) { return s.service == service; });
  return found == services.end() ? "" : found->hostname.str();
}

}  // namespace

std::optional<ExternalAuthorizer> FindAuthorizer(const istio::mesh::v1alpha1::MeshConfig& mesh,
                                                 const std::vector<ProviderService>& services,
                                                 std::string_view name) {
  const Provider* provider = IsGoodName(name) ? FindOnly(mesh, name) : nullptr;
  if (provider == nullptr) return std::nullopt;
  const auto make = [&](const auto& settings, auto build) -> std::optional<ExternalAuthorizer> {
    const std::string host = HostOf(services, settings.service());
    if (host.empty() || !config::check::PortProblem(settings.port()).empty()) return std::nullopt;
    return build(settings, host, OutboundClusterName(settings.port(), "", host));
  };
  return provider->has_envoy_ext_authz_http() ? make(provider->envoy_ext_authz_http(), OfHttp)
                                              : make(provider->envoy_ext_authz_grpc(), OfGrpc);
}

}  // namespace fairlead::gen::security
