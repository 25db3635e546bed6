#include "agent/bootstrap/proxy_config.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "agent/bootstrap/workload_addresses.h"
#include "base/duration.h"
#include "base/interned.h"
#include "base/json.h"
#include "base/strings.h"
#include "config/check/check.h"
#include "config/diagnostic.h"
#include "config/read/no_effect.h"
#include "config/read/yaml.h"
#include "config/report.h"
#include "google/protobuf/util/json_util.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "model/mesh_config.h"
#include "model/settings.h"

namespace fairlead::agent {
namespace {

using config::Diagnostic;
using istio::mesh::v1alpha1::ProxyConfig;

constexpr std::string_view kProxyAnnotation = "proxy.istio.io/config";
constexpr std::string_view kAddressAnnotation = "sidecar.istio.io/discoveryAddress";
constexpr std::string_view kStatusAnnotation = "status.sidecar.istio.io/port";

std::string TextOf(const Diagnostic& one, std::string_view name) {
  return StrCat(name, one.line > 0 ? StrCat(" line ", one.line) : "", ": ", one.path,
                one.path.empty() ? "" : ": ", one.message);
}

// The first error; warnings become remarks.
absl::Status Judge(const std::vector<Diagnostic>& diagnostics, std::string_view name, Options* options) {
  for (const Diagnostic& one : diagnostics) {
    if (one.severity == config::Severity::kError) return absl::InvalidArgumentError(TextOf(one, name));
  }
  for (const Diagnostic& one : diagnostics) {
    if (one.code != config::kNoEffectCode) options->remarks.push_back(TextOf(one, name));
  }
  return absl::OkStatus();
}

absl::Status LayOver(std::string_view text, std::string_view name, ProxyConfig* proxy, Options* options) {
  const config::YamlDocument document = config::ParseYamlDocument(text);
  if (!document.problems.empty()) {
    const auto& problem = document.problems.front();
    return absl::InvalidArgumentError(StrCat(name, " line ", problem.line, ": ", problem.message));
  }
  const config::Node root = document.tree.root();
  if (root.IsNull()) return absl::OkStatus();
  if (!root.IsMapping()) return absl::InvalidArgumentError(StrCat(name, ": not a mapping"));
  config::Report report{Interned(name)};
  model::MergeProxyConfig(root, {}, report, proxy);
  return Judge(report.Take(), name, options);
}

// What Istio refuses, whichever text it is from.
absl::Status CheckWhole(const ProxyConfig& proxy, Options* options) {
  istio::mesh::v1alpha1::MeshConfig mesh = *model::DefaultMeshConfig();
  *mesh.mutable_default_config() = proxy;
  config::Report report{Interned("ProxyConfig")};
  config::check::CheckMeshConfig(mesh, config::Node(), report);
  std::vector<Diagnostic> found = report.Take();
  constexpr std::string_view kPrefix = "defaultConfig.";
  for (Diagnostic& one : found) {
    if (one.path.starts_with(kPrefix)) one.path.erase(0, kPrefix.size());
  }
  return Judge(found, "ProxyConfig", options);
}

// "host:port" with the host's address; "" where it has none.
std::string Resolved(const std::string& address) {
  const auto [host, port] = SplitAddress(address, 0);
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return "";
  std::string v4, v6;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    char text[INET6_ADDRSTRLEN] = "";
    if (one->ai_family == AF_INET && v4.empty()) {
      v4 = inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ai_addr)->sin_addr, text,
                     sizeof text);
    } else if (one->ai_family == AF_INET6) {
      v6 = inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(one->ai_addr)->sin6_addr, text,
                     sizeof text);
    }
  }
  freeaddrinfo(list);
  if (!v4.empty()) return StrCat(v4, ":", port);
  return v6.empty() ? "" : StrCat("[", v6, "]:", port);
}

std::chrono::milliseconds Milliseconds(const google::protobuf::Duration& duration) {
  return std::chrono::milliseconds(duration.seconds() * 1'000 + duration.nanos() / 1'000'000);
}

// Istio's annotations of single fields; they count most.
void ApplyAnnotations(ProxyConfig* proxy, Options* options) {
  if (const auto found = options->annotations.find(std::string(kAddressAnnotation));
      found != options->annotations.end())
    proxy->set_discovery_address(found->second);
  const auto found = options->annotations.find(std::string(kStatusAnnotation));
  if (found == options->annotations.end()) return;
  int port = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, port);
  if (error != std::errc() || stop != end)
    options->remarks.push_back(StrCat("annotation ", kStatusAnnotation, ": '", found->second,
                                      "' is no number; there is no status port"));
  proxy->set_status_port(stop == end ? port : 0);
}

void Fill(const ProxyConfig& proxy, Options* options) {
  options->discovery_address = proxy.discovery_address();
  options->config_folder = proxy.config_path();
  options->binary = proxy.binary_path();
  options->custom_config_file = proxy.custom_config_file();
  options->admin_port = proxy.proxy_admin_port();
  options->status_port = proxy.status_port();
  options->concurrency = proxy.concurrency().value();
  options->drain_duration = Milliseconds(proxy.drain_duration());
  options->termination_drain_duration = Milliseconds(proxy.termination_drain_duration());
  if (proxy.has_file_flush_interval())
    options->file_flush_interval = Milliseconds(proxy.file_flush_interval());
  options->file_flush_min_size_kb = proxy.file_flush_min_size_kb();
  using istio::mesh::v1alpha1::AuthenticationPolicy;
  options->plaintext_discovery = proxy.control_plane_auth_policy() == AuthenticationPolicy::NONE;
}

}  // namespace

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  const auto parsed = ParseGoDuration(text);
  if (!parsed || parsed->count() < 0) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*parsed);
}

std::string DurationText(std::chrono::milliseconds duration) {
  const auto whole = duration.count() / 1'000, rest = duration.count() % 1'000;
  if (rest == 0) return StrCat(whole, "s");
  const std::string digits = StrCat(1'000 + rest);
  return StrCat(whole, ".", digits.substr(1), "s");
}

absl::Status ApplyProxyConfig(const ProxyConfigTexts& texts, Options* options) {
  ProxyConfig proxy = model::DefaultMeshConfig()->default_config();
  if (!texts.mesh.empty()) {
    const model::MeshConfigResult mesh = model::ParseMeshConfig(texts.mesh, Interned(texts.mesh_file));
    if (absl::Status status = Judge(mesh.diagnostics, texts.mesh_file, options); !status.ok()) return status;
    if (mesh.mesh != nullptr) proxy = mesh.mesh->default_config();
  }
  absl::Status status = LayOver(texts.environment, "PROXY_CONFIG", &proxy, options);
  if (const auto found = options->annotations.find(std::string(kProxyAnnotation));
      status.ok() && found != options->annotations.end())
    status = LayOver(found->second, StrCat("annotation ", kProxyAnnotation), &proxy, options);
  if (!status.ok()) return status;
  if (proxy.has_service_cluster() && proxy.service_cluster().empty())
    proxy.set_service_cluster(options->service_cluster);
  if (!proxy.has_concurrency() && options->cpu_limit != 0)
    proxy.mutable_concurrency()->set_value(options->cpu_limit);
  if (const std::string statsd = proxy.statsd_udp_address(); !statsd.empty()) {
    proxy.set_statsd_udp_address(Resolved(statsd));
    if (proxy.statsd_udp_address().empty())
      options->remarks.push_back(
          StrCat("ProxyConfig: statsdUdpAddress: ", statsd, " has no address; unused"));
  }
  if (status = CheckWhole(proxy, options); !status.ok()) return status;
  ApplyAnnotations(&proxy, options);
  if (!options->template_file.empty() && proxy.custom_config_file().empty())
    proxy.set_proxy_bootstrap_template_path(options->template_file);
  Fill(proxy, options);
  std::string text;
  const auto written = google::protobuf::util::MessageToJsonString(proxy, &text);
  auto json = written.ok() ? ParseJson(text) : std::nullopt;
  if (!json || !json->is_object())
    return absl::InvalidArgumentError("ProxyConfig: a text in it is not UTF-8");
  options->proxy_config = *std::move(json);
  return absl::OkStatus();
}

void TellFlags(Options* options) {
  nlohmann::json& told = options->proxy_config;
  if (!told.is_object()) told = nlohmann::json::object();
  told["discoveryAddress"] = options->discovery_address;
  told["configPath"] = options->config_folder;
  told["binaryPath"] = options->binary;
  told["proxyAdminPort"] = options->admin_port;
  if (options->status_port != 0) told["statusPort"] = options->status_port;
  if (options->status_port == 0) told.erase("statusPort");
  if (options->concurrency != 0) told["concurrency"] = options->concurrency;
  told["drainDuration"] = DurationText(options->drain_duration);
  told["terminationDrainDuration"] = DurationText(options->termination_drain_duration);
}

}  // namespace fairlead::agent
