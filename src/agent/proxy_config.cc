#include "agent/proxy_config.h"

#include <string>
#include <vector>

#include "base/interned.h"
#include "base/strings.h"
#include "config/diagnostic.h"
#include "config/proto_reader.h"
#include "config/report.h"
#include "config/tree_json.h"
#include "config/yaml.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"

namespace fairlead::agent {
namespace {

using config::Node;

void SetText(Node node, std::string* out) {
  if (node.IsString()) *out = node.text();
}
void SetNumber(Node node, int* out) {
  if (node.Int()) *out = static_cast<int>(*node.Int());
}

absl::Status SetDuration(Node root, std::string_view key, std::chrono::milliseconds* out) {
  const Node node = root.Find(key);
  if (!node) return absl::OkStatus();
  const auto parsed = ParseDuration(node.text());
  if (!parsed) {
    return absl::InvalidArgumentError(StrCat("PROXY_CONFIG line ", node.line(), ": ", key, ": '", node.text(),
                                             "' is not a duration such as 45s"));
  }
  *out = *parsed;
  return absl::OkStatus();
}

// What the schema knows nothing of, or differently.
std::vector<config::Diagnostic> Mistakes(Node root) {
  config::Report report{Interned("PROXY_CONFIG")};
  istio::mesh::v1alpha1::ProxyConfig parsed;
  config::ReadProto(root, {}, report, &parsed, config::UnknownFields::kWarning);
  return report.Take();
}

}  // namespace

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  double total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const size_t digits = text.find_first_not_of("0123456789.");
    if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
    const double number = std::atof(std::string(text.substr(0, digits)).c_str());
    text.remove_prefix(digits);
    const std::string_view unit = text.substr(0, text.find_first_of("0123456789."));
    if (unit == "h") {
      total += number * 3'600'000;
    } else if (unit == "m") {
      total += number * 60'000;
    } else if (unit == "s") {
      total += number * 1'000;
    } else if (unit == "ms") {
      total += number;
    } else {
      return std::nullopt;
    }
    text.remove_prefix(unit.size());
  }
  return std::chrono::milliseconds(static_cast<int64_t>(total));
}

absl::Status ApplyProxyConfig(std::string_view text, Options* options) {
  const config::YamlDocument document = config::ParseYamlDocument(text);
  if (!document.problems.empty()) {
    const auto& problem = document.problems.front();
    return absl::InvalidArgumentError(StrCat("PROXY_CONFIG line ", problem.line, ": ", problem.message));
  }
  const Node root = document.tree.root();
  if (!root.IsMapping()) return absl::InvalidArgumentError("PROXY_CONFIG: not a mapping");
  const std::vector<config::Diagnostic> mistakes = Mistakes(root);
  for (const config::Diagnostic& one : mistakes)
    options->remarks.push_back(StrCat("PROXY_CONFIG line ", one.line, ": ", one.path, ": ", one.message));
  SetText(root.Find("discoveryAddress"), &options->discovery_address);
  SetText(root.Find("configPath"), &options->config_folder);
  SetText(root.Find("binaryPath"), &options->binary);
  SetText(root.Find("serviceCluster"), &options->service_cluster);
  SetNumber(root.Find("proxyAdminPort"), &options->admin_port);
  SetNumber(root.Find("statusPort"), &options->status_port);
  SetNumber(root.Find("concurrency"), &options->concurrency);
  for (const auto& [key, member] :
       {std::pair("drainDuration", &options->drain_duration),
        std::pair("terminationDrainDuration", &options->termination_drain_duration)}) {
    if (absl::Status status = SetDuration(root, key, member); !status.ok()) return status;
  }
  for (const Node::Entry& value : root.Find("runtimeValues").entries()) {
    options->runtime[std::string(value.key)] = config::ToJson(value.value);
  }
  // proxyMetadata stands for environment variables; those that are metadata count unless the environment has
  // them.
  constexpr std::string_view kPrefix = "ISTIO_META_";
  for (const Node::Entry& value : root.Find("proxyMetadata").entries()) {
    if (!value.key.starts_with(kPrefix)) continue;
    const std::string key(value.key.substr(kPrefix.size()));
    if (!options->metadata.contains(key)) options->metadata[key] = std::string(value.value.text());
  }
  nlohmann::json& told = options->metadata["PROXY_CONFIG"] = config::ToJson(root);
  for (const config::Diagnostic& one : mistakes) {
    if (one.code == "unknown-field") told.erase(one.path);
  }
  return absl::OkStatus();
}

}  // namespace fairlead::agent
