#include "tests/corpus/case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/status/status.h"
#include "app/environment.h"
#include "app/ignored_objects.h"
#include "base/strings.h"
#include "config/read/manifests.h"
#include "config/read/proto_reader.h"
#include "config/read/yaml.h"
#include "config/report.h"
#include "envoy/config/core/v3/base.pb.h"
#include "model/mesh_config.h"

namespace fairlead::corpus {
namespace {

namespace fs = std::filesystem;
using envoy::config::core::v3::Node;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(StrCat(path, ": cannot be read"));
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

// One entry of proxies.yaml; its locality is "region/zone/subzone".
absl::StatusOr<NamedProxy> ReadProxy(config::Node entry, const std::string& file) {
  Node node;
  node.set_id(std::string(entry.Find("id").text()));
  node.set_cluster(std::string(entry.Find("cluster").text()));
  config::Report report{Interned(file)};
  if (!config::ReadProto(entry.Find("metadata"), {}, report, node.mutable_metadata())) {
    return absl::InvalidArgumentError(StrCat(file, ": ", ToText(report.Take().front())));
  }
  const auto parts = Split(entry.Find("locality").text(), '/');
  if (!parts[0].empty()) {
    node.mutable_locality()->set_region(std::string(parts[0]));
    if (parts.size() > 1) node.mutable_locality()->set_zone(std::string(parts[1]));
    if (parts.size() > 2) node.mutable_locality()->set_sub_zone(std::string(parts[2]));
  }
  auto proxy = model::ParseProxy(node);
  if (!proxy.ok()) return proxy.status();
  // As a stream in plaintext of a server that believes nodes: the cases' proxies may read the secrets of
  // their own namespaces.
  auto proven = std::make_shared<model::Proxy>(**proxy);
  const std::string& account = proven->metadata.service_account;
  proven->identity = model::PeerIdentity{"", proven->ns, account.empty() ? "default" : account};
  return NamedProxy{std::string(entry.Find("name").text()), std::move(proven)};
}

absl::Status ReadProxies(const std::string& file, Case* out) {
  const auto text = ReadFile(file);
  if (!text.ok()) return text.status();
  const config::YamlDocument document = config::ParseYamlDocument(*text);
  for (config::Node entry : document.tree.root().elements()) {
    auto proxy = ReadProxy(entry, file);
    if (!proxy.ok()) return proxy.status();
    out->proxies.push_back(*std::move(proxy));
  }
  return absl::OkStatus();
}

// The variables of a case's file `env`, NAME=value a line; none without it.
std::map<std::string, std::string> ReadVariables(const std::string& file) {
  std::map<std::string, std::string> variables;
  const std::string text = ReadFile(file).value_or("");
  for (const std::string_view line : Split(text, '\n')) {
    const size_t equals = line.find('=');
    if (equals != std::string_view::npos) variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return variables;
}

}  // namespace

nlohmann::json Case::Golden(const std::string& proxy) const {
  const auto text = ReadFile(StrCat(folder, "/golden/", proxy, ".json"));
  return text.ok() ? nlohmann::json::parse(*text) : nlohmann::json::object();
}

absl::StatusOr<Case> LoadCase(const std::string& root, const std::string& name) {
  Case out;
  out.name = name;
  out.area = name.substr(0, name.find('/'));
  out.folder = StrCat(root, "/", name);
  const auto input = ReadFile(out.folder + "/input.yaml");
  if (!input.ok()) return input.status();
  config::ParseResult parsed = config::ParseManifests(*input, Interned(out.folder + "/input.yaml"));
  out.objects = std::move(parsed.objects);
  out.diagnostics = std::move(parsed.diagnostics);
  // Optional files: absent ones leave the defaults.
  auto mesh = model::ParseMeshConfig(ReadFile(out.folder + "/mesh.yaml").value_or(""), Interned("mesh.yaml"));
  auto networks = model::ParseMeshNetworks(ReadFile(out.folder + "/networks.yaml").value_or(""),
                                           Interned("networks.yaml"));
  for (auto* found : {&mesh.diagnostics, &networks.diagnostics}) {
    out.diagnostics.insert(out.diagnostics.end(), found->begin(), found->end());
  }
  const std::map<std::string, std::string> variables = ReadVariables(out.folder + "/env");
  const auto environment = app::ReadEnvironment([&variables](const char* name) {
    const auto set = variables.find(name);
    return set == variables.end() ? nullptr : set->second.c_str();
  });
  if (!environment.ok()) return environment.status();
  std::erase_if(out.objects, [ignored = app::IgnoredBy(*environment)](const config::ConfigPtr& object) {
    return ignored.Has(config::KeyOf(*object));
  });
  model::SettingsOptions options;
  options.compliance = environment->compliance;
  options.gateways = environment->gateways;
  options.features = environment->features;
  out.settings = model::MakeSettings(mesh.mesh, networks.networks, options);
  if (absl::Status status = ReadProxies(out.folder + "/proxies.yaml", &out); !status.ok()) return status;
  return out;
}

std::vector<std::string> FindCases(const std::string& root, const std::string& filter) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "input.yaml") continue;
    const fs::path folder = entry.path().parent_path();
    std::string name = StrCat(folder.parent_path().filename().string(), "/", folder.filename().string());
    if (name.find(filter) != std::string::npos) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace fairlead::corpus
