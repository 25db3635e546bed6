#include "model/mesh_config.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/strings.h"
#include "config/check/check.h"
#include "config/config_source.h"
#include "config/read/no_effect.h"
#include "config/read/proto_reader.h"
#include "config/read/yaml.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "model/settings_parts.h"

namespace fairlead::model {
namespace {

using config::FieldPath;
using config::Node;
using config::Report;
using config::UnknownFields;
using istio::mesh::v1alpha1::MeshConfig;
using istio::mesh::v1alpha1::MeshNetworks;
using istio::mesh::v1alpha1::ProxyConfig;

// The one document of a file; reports what is wrong with it as YAML.
config::YamlDocument ReadDocument(std::string_view text, Report& report) {
  config::YamlDocument document = config::ParseYamlDocument(text);
  for (const config::YamlProblem& problem : document.problems) {
    report.Error(problem.code, problem.line, problem.path, problem.message);
  }
  return document;
}

// By name: a provider of the file replaces the one before it, others are added.
void MergeProviders(const MeshConfig& before, MeshConfig* mesh) {
  auto given = std::move(*mesh->mutable_extension_providers());
  *mesh->mutable_extension_providers() = before.extension_providers();
  for (auto& provider : given) {
    auto& known = *mesh->mutable_extension_providers();
    const auto same =
        std::find_if(known.begin(), known.end(), [&](const auto& p) { return p.name() == provider.name(); });
    if (same != known.end()) {
      *same = std::move(provider);
    } else {
      *known.Add() = std::move(provider);
    }
  }
}

void MergeTrustDomainAliases(const MeshConfig& before, MeshConfig* mesh) {
  std::set<std::string> aliases(mesh->trust_domain_aliases().begin(), mesh->trust_domain_aliases().end());
  aliases.insert(before.trust_domain_aliases().begin(), before.trust_domain_aliases().end());
  mesh->mutable_trust_domain_aliases()->Assign(aliases.begin(), aliases.end());
}

// An absent header of the upper ProxyHeaders falls through to the lower one.
void InheritHeaders(const ProxyConfig::ProxyHeaders& lower, ProxyConfig::ProxyHeaders* upper) {
  using Forwarding = istio::mesh::v1alpha1::ForwardClientCertDetails;
  if (upper->forwarded_client_cert() == Forwarding::UNDEFINED) {
    upper->set_forwarded_client_cert(lower.forwarded_client_cert());
  }
  if (!upper->has_request_id() && lower.has_request_id()) *upper->mutable_request_id() = lower.request_id();
  if (!upper->has_attempt_count() && lower.has_attempt_count())
    *upper->mutable_attempt_count() = lower.attempt_count();
  if (!upper->has_server() && lower.has_server()) *upper->mutable_server() = lower.server();
  if (!upper->has_envoy_debug_headers() && lower.has_envoy_debug_headers()) {
    *upper->mutable_envoy_debug_headers() = lower.envoy_debug_headers();
  }
}

bool ReadOver(Node root, Report& report, MeshConfig* mesh) {
  const FieldPath path;
  const MeshConfig before = *mesh;
  if (!config::ReadProto(root, path, report, mesh, UnknownFields::kWarning)) return false;
  *mesh->mutable_default_config() = before.default_config();
  *mesh->mutable_default_providers() = before.default_providers();
  // Read a second time over what was there; a report of its own, since the first reading said what is
  // unknown.
  Report silent(report.file());
  if (const Node proxy = root.Find("defaultConfig"); !proxy.IsNull()) {
    MergeProxyConfig(proxy, FieldPath(path, "defaultConfig"), silent, mesh->mutable_default_config());
  }
  if (const Node providers = root.Find("defaultProviders"); !providers.IsNull()) {
    config::ReadProto(providers, FieldPath(path, "defaultProviders"), silent,
                      mesh->mutable_default_providers(), UnknownFields::kWarning);
  }
  MergeProviders(before, mesh);
  MergeTrustDomainAliases(before, mesh);
  return true;
}

// A field of the MeshConfig that is accepted and not acted on; `harmless`: a value that needs no note.
struct NotActedOn {
  std::string_view field, harmless, why;
};

constexpr std::string_view kNeither = "neither Istio nor Fairlead acts on it";
constexpr std::string_view kNoAmbient = "there is no ambient mode";
// Of UnreadFields() those that nothing else reads either.
constexpr NotActedOn kNotActedOn[] = {
    {"ca", "", "certificates are signed here, or by FAIRLEAD_SIGNER_URL"},
    {"certificates", "", kNeither},
    {"hboneIdleTimeout", "", kNoAmbient},
    {"serviceScopeConfigs", "", kNoAmbient},
    {"verifyCertificateAtClient", "", kNeither},
};

std::shared_ptr<const MeshConfig> Overlaid(Node root, const MeshConfig& base, Report& report) {
  const size_t errors_before = report.errors();
  auto mesh = std::make_shared<MeshConfig>(base);
  if (!root.IsNull()) ReadOver(root, report, mesh.get());
  return report.errors() == errors_before ? mesh : nullptr;
}

}  // namespace

void NoteNotActedOn(Node root, Report& report) {
  for (const NotActedOn& row : kNotActedOn) {
    const Node node = root.Find(row.field);
    if (node.IsNull() || (!row.harmless.empty() && node.text() == row.harmless)) continue;
    report.Warning(config::kNoEffectCode, node.line(), std::string(row.field),
                   StrCat("this has no effect: ", row.why));
  }
  for (const Node source : root.Find("configSources").elements()) {
    const Node address = source.Find("address");
    if (config::IsKnownSource(address.String())) continue;
    report.Warning(config::kNoEffectCode, source.line(), "configSources",
                   "this has no effect: objects are read from --configDir, clusters and platforms");
  }
}

bool MergeProxyConfig(Node node, const FieldPath& path, Report& report, ProxyConfig* proxy) {
  const ProxyConfig before = *proxy;
  if (!config::ReadProto(node, path, report, proxy, UnknownFields::kWarning)) return false;
  for (const auto& [name, value] : before.proxy_metadata())
    proxy->mutable_proxy_metadata()->insert({name, value});
  if (proxy->has_proxy_headers() && before.has_proxy_headers()) {
    InheritHeaders(before.proxy_headers(), proxy->mutable_proxy_headers());
  }
  return true;
}

MeshConfigResult ParseMeshConfig(std::string_view text, const Interned& file) {
  return ParseMeshConfig(text, file, *DefaultMeshConfig());
}

MeshConfigResult ParseMeshConfig(std::string_view text, const Interned& file, const MeshConfig& base) {
  Report report(file);
  const config::YamlDocument document = ReadDocument(text, report);
  const Node root = document.tree.root();
  auto mesh = Overlaid(root, base, report);
  if (mesh != nullptr) {
    config::check::CheckMeshConfig(*mesh, root, report);
    config::check::CheckExtensionProviders(*mesh, root, report);
    if (!root.IsNull()) NoteNotActedOn(root, report);
  }
  if (report.errors() > 0) mesh = nullptr;
  return {std::move(mesh), report.Take()};
}

std::shared_ptr<const MeshConfig> ReadMeshConfig(Node root, Report& report) {
  return Overlaid(root, *DefaultMeshConfig(), report);
}

MeshNetworksResult ParseMeshNetworks(std::string_view text, const Interned& file) {
  Report report(file);
  const config::YamlDocument document = ReadDocument(text, report);
  const Node root = document.tree.root();
  auto networks = ReadMeshNetworks(root, report);
  if (networks != nullptr) config::check::CheckMeshNetworks(*networks, root, report);
  if (report.errors() > 0) networks = nullptr;
  return {std::move(networks), report.Take()};
}

std::shared_ptr<const MeshNetworks> ReadMeshNetworks(Node root, Report& report) {
  const size_t errors_before = report.errors();
  auto networks = std::make_shared<MeshNetworks>();
  if (!root.IsNull()) config::ReadProto(root, FieldPath(), report, networks.get(), UnknownFields::kWarning);
  return report.errors() == errors_before ? networks : nullptr;
}

SettingsPtr MakeSettings(std::shared_ptr<const MeshConfig> mesh, std::shared_ptr<const MeshNetworks> networks,
                         const SettingsOptions& options, const SettingsPtr& previous) {
  Settings settings;
  settings.mesh = mesh != nullptr ? std::move(mesh) : DefaultMeshConfig();
  settings.networks = networks != nullptr ? std::move(networks) : std::make_shared<const MeshNetworks>();
  settings.domain = options.domain;
  settings.cluster_id = options.cluster_id;
  settings.system_namespace = options.system_namespace;
  settings.compliance = options.compliance;
  settings.gateways = options.gateways;
  settings.features = options.features;
  settings.root_namespace = settings.mesh->root_namespace();
  settings.trust_domain = settings.mesh->trust_domain();
  return WithPrevious(std::move(settings), previous);
}

SettingsPtr MakeSettings(std::shared_ptr<const MeshConfig> mesh, std::shared_ptr<const MeshNetworks> networks,
                         std::string_view domain, std::string_view cluster_id) {
  SettingsOptions options;
  options.domain = domain;
  options.cluster_id = cluster_id;
  return MakeSettings(std::move(mesh), std::move(networks), options);
}

}  // namespace fairlead::model
