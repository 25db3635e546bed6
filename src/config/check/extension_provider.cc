#include <charconv>
#include <set>

#include "base/go_url.h"
#include "config/check/check.h"
#include "config/check/names.h"
#include "config/spot.h"
#include "envoy/type/v3/http_status.pb.h"
#include "istio/mesh/v1alpha1/config.pb.h"

// Deprecated providers are checked as well.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::config::check {
namespace {

using istio::mesh::v1alpha1::MeshConfig;
using Provider = MeshConfig::ExtensionProvider;

void WarnIf(std::string why, const Spot& at) {
  if (!why.empty()) at.Warn("invalid-provider", std::move(why));
}

// A host name or an address, or one of them behind "namespace/".
std::string ServiceProblem(std::string_view service) {
  if (service.empty()) return "this field is required";
  if (service.find('/') != std::string_view::npos) return NamespacedHostProblem(service, false, false);
  if (DomainProblem(service).empty() || IpAddressProblem(service).empty()) return "";
  return StrCat("\"", service, "\" is no host and no address");
}

template <typename Settings>
void CheckService(const Settings& settings, const Spot& at) {
  WarnIf(ServiceProblem(settings.service()), Spot(at, "service"));
  WarnIf(PortProblem(settings.port()), Spot(at, "port"));
}

template <typename Settings>
void CheckAuthorizer(const Settings& settings, const Spot& at) {
  CheckService(settings, at);
  const std::string& status = settings.status_on_error();
  if (status.empty()) return;
  int code = 0;
  const auto [stop, error] = std::from_chars(status.data(), status.data() + status.size(), code);
  const bool good = error == std::errc() && stop == status.data() + status.size() &&
                    envoy::type::v3::StatusCode_IsValid(code);
  if (!good) WarnIf(StrCat("\"", status, "\" is no HTTP status that Envoy knows"), Spot(at, "statusOnError"));
}

void CheckPathPrefix(const std::string& prefix, const Spot& at) {
  if (prefix.empty()) return;
  if (!prefix.starts_with('/') || !ParseUrl(prefix))
    WarnIf(StrCat("\"", prefix, "\" is no path that begins with /"), at);
}

void CheckProvider(const Provider& provider, const Spot& at) {
  switch (provider.provider_case()) {
    case Provider::kEnvoyExtAuthzHttp: {
      const Spot here(at, "envoyExtAuthzHttp");
      CheckAuthorizer(provider.envoy_ext_authz_http(), here);
      return CheckPathPrefix(provider.envoy_ext_authz_http().path_prefix(), Spot(here, "pathPrefix"));
    }
    case Provider::kEnvoyExtAuthzGrpc:
      return CheckAuthorizer(provider.envoy_ext_authz_grpc(), Spot(at, "envoyExtAuthzGrpc"));
    case Provider::kZipkin:
      return CheckService(provider.zipkin(), Spot(at, "zipkin"));
    case Provider::kLightstep: {
      const Spot here(at, "lightstep");
      CheckService(provider.lightstep(), here);
      if (provider.lightstep().access_token().empty())
        WarnIf("this field is required", Spot(here, "accessToken"));
      return;
    }
    case Provider::kDatadog:
      return CheckService(provider.datadog(), Spot(at, "datadog"));
    case Provider::kOpencensus:
      return CheckService(provider.opencensus(), Spot(at, "opencensus"));
    case Provider::kSkywalking:
      return CheckService(provider.skywalking(), Spot(at, "skywalking"));
    case Provider::kOpentelemetry: {
      const Spot here(at, "opentelemetry");
      CheckService(provider.opentelemetry(), here);
      if (provider.opentelemetry().has_grpc() && provider.opentelemetry().has_http())
        WarnIf("only one of grpc and http may be set", here);
      return;
    }
    case Provider::kEnvoyHttpAls:
      return CheckService(provider.envoy_http_als(), Spot(at, "envoyHttpAls"));
    case Provider::kEnvoyTcpAls:
      return CheckService(provider.envoy_tcp_als(), Spot(at, "envoyTcpAls"));
    case Provider::kEnvoyOtelAls:
      return CheckService(provider.envoy_otel_als(), Spot(at, "envoyOtelAls"));
    case Provider::kPrometheus:
    case Provider::kStackdriver:
    case Provider::kEnvoyFileAccessLog:
      return;
    default:
      WarnIf("the provider has no type that is supported", at);
  }
}

const Provider* FindProvider(const MeshConfig& mesh, std::string_view name) {
  for (const Provider& provider : mesh.extension_providers()) {
    if (provider.name() == name) return &provider;
  }
  return nullptr;
}

}  // namespace

void CheckExtensionProviders(const MeshConfig& mesh, Node document, Report& report) {
  const ObjectMeta none;
  const Subject subject{report, document, none};
  const Spot root(subject);
  const Spot providers(root, "extensionProviders");
  std::set<std::string_view> names;
  size_t index = 0;
  for (Node written : providers.Written().elements()) {
    const Spot here(providers, index++);
    const std::string_view name = written.Find("name").String();
    if (name.empty()) WarnIf("a provider has a name", Spot(here, "name"));
    if (!names.insert(name).second)
      WarnIf(StrCat("another provider is \"", name, "\"; the last one counts"), Spot(here, "name"));
    if (const Provider* provider = FindProvider(mesh, name)) CheckProvider(*provider, here);
  }
}

}  // namespace fairlead::config::check
