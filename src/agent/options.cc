#include "agent/options.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "agent/bootstrap/downward_api.h"
#include "agent/bootstrap/node_metadata.h"
#include "agent/bootstrap/platform.h"
#include "agent/bootstrap/proxy_config.h"
#include "agent/bootstrap/statistics.h"
#include "agent/bootstrap/workload_addresses.h"
#include "agent/flags.h"
#include "agent/variables.h"
#include "base/go_bool.h"
#include "base/json.h"
#include "base/process_start.h"
#include "base/strings.h"
#include "ca/secret_file.h"

namespace fairlead::agent {
namespace {

constexpr std::string_view kLabels = "./etc/istio/pod/labels", kAnnotations = "./etc/istio/pod/annotations";
constexpr std::string_view kExcluded = "traffic.sidecar.istio.io/excludeInterfaces";

std::string Value(const Environment& environment, std::string_view name) {
  const auto it = environment.find(name);
  return it == environment.end() ? "" : it->second;
}

std::string Inside(const std::string& folder, std::string_view path) {
  return path.starts_with('/') ? std::string(path) : StrCat(folder, "/", path);
}

// Labels or annotations of the pod; none where there is no such file.
std::optional<std::map<std::string, std::string>> ReadPodFile(const std::string& file, Options* options) {
  if (access(file.c_str(), F_OK) != 0) return std::nullopt;
  const auto text = ca::ReadSecretFile(file);
  auto values = text.ok() ? ParseDownwardApi(*text) : text.status();
  if (values.ok()) return *std::move(values);
  options->remarks.push_back(StrCat(file, ": ", FromAbsl(values.status().message()), "; passed over"));
  return std::nullopt;
}

absl::Status ReadProxyConfig(const Environment& environment, const std::string& folder, Options* options) {
  const std::string written = Value(environment, "PROXY_CONFIG");
  ProxyConfigTexts texts{"", options->mesh_config_file, written};
  const std::string file = Inside(folder, options->mesh_config_file);
  if (!options->mesh_config_file.empty() && access(file.c_str(), F_OK) == 0) {
    auto text = ca::ReadSecretFile(file);
    if (!text.ok()) return text.status();
    texts.mesh = *std::move(text);
  }
  return ApplyProxyConfig(texts, options);
}

// A variable of older Istio versions, where the ProxyConfig has the default.
void ReadOldDrainTime(const Environment& environment, Options* options) {
  const std::string seconds = Value(environment, "TERMINATION_DRAIN_DURATION_SECONDS");
  if (seconds.empty() || options->termination_drain_duration != Options().termination_drain_duration) return;
  if (const auto parsed = ParseDuration(StrCat(seconds, "s"))) {
    options->termination_drain_duration = *parsed;
  } else {
    options->remarks.push_back(
        StrCat("TERMINATION_DRAIN_DURATION_SECONDS: '", seconds, "' is not a number; the default counts"));
  }
}

}  // namespace

Environment CurrentEnvironment() { return OwnVariables(); }

absl::StatusOr<Options> ReadOptions(const std::vector<std::string>& arguments, const Environment& environment,
                                    const std::string& folder) {
  Options options;
  if (absl::Status status = ReadVariables(environment, &options); !status.ok()) return status;
  // Some flags decide what the ProxyConfig is, and all win over it.
  Options flags = options;
  if (absl::Status status = ReadFlags(arguments, &flags); !status.ok()) return status;
  options.mesh_config_file = flags.mesh_config_file;
  options.template_file = flags.template_file;
  options.service_cluster = flags.service_cluster;
  options.annotations =
      ReadPodFile(Inside(folder, kAnnotations), &options).value_or(std::map<std::string, std::string>());
  if (absl::Status status = ReadProxyConfig(environment, folder, &options); !status.ok()) return status;
  ReadOldDrainTime(environment, &options);
  if (absl::Status status = ReadFlags(arguments, &options); !status.ok()) return status;
  if (options.custom_config_file.empty() && !options.template_file.empty())
    options.remarks.push_back(
        "--templateFile: the bootstrap is built in; ISTIO_BOOTSTRAP_OVERRIDE changes it");
  TellFlags(&options);
  if (absl::Status status = ReadSecurityVariables(environment, &options); !status.ok()) return status;
  const auto excluded = options.annotations.find(std::string(kExcluded));
  options.addresses = WorkloadAddresses(Value(environment, "INSTANCE_IP"),
                                        excluded == options.annotations.end() ? "" : excluded->second);
  const auto labels = ReadPodFile(Inside(folder, kLabels), &options);
  const bool has_v6 = ReachOf(options.addresses, /*dual_stack=*/true).lookup_family != "V4_ONLY";
  const Platform platform = FindPlatform(environment, ReadMachineFacts(), has_v6, AskMetadataServer);
  if (absl::Status status = FillNodeMetadata(environment, labels, platform, &options); !status.ok())
    return status;
  options.dns = (options.type == "sidecar" && JsonString(options.metadata, "DNS_CAPTURE") == "true") ||
                ParseGoBool(JsonString(options.metadata, "ENABLE_DNS_SERVER")).value_or(false);
  for (std::string& remark : StatisticsRemarks(options)) options.remarks.push_back(std::move(remark));
  return options;
}

}  // namespace fairlead::agent
