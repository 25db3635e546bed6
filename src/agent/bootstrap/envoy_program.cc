#include "agent/bootstrap/envoy_program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "agent/bootstrap/workload_addresses.h"
#include "base/json.h"
#include "base/strings.h"
#include "config/read/tree_json.h"
#include "config/read/yaml.h"

namespace fairlead::agent {
namespace {

constexpr char kInPath[] = "envoy";
constexpr std::string_view kExtension = "istio.workload.BootstrapExtension";

bool Runs(const std::string& file) { return access(file.c_str(), X_OK) == 0; }

// The file that a program's name stands for.
std::string PathOf(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const Environment environment = CurrentEnvironment();
  const auto path = environment.find("PATH");
  if (path == environment.end()) return program;
  for (const std::string_view folder : Split(path->second, ':')) {
    std::string file = StrCat(folder.empty() ? "." : folder, "/", program);
    if (Runs(file)) return file;
  }
  return program;
}

// Levels of one flag: "info,misc:error" is info, and misc:error of components.
std::pair<std::string, std::string> SplitLevels(const std::string& levels) {
  std::string level, components;
  for (const std::string_view part : Split(levels, ',')) {
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos) {
      level = part;
    } else if (part.find(':', colon + 1) == std::string_view::npos) {
      StrAppend(&components, components.empty() ? "" : ",", part);
    }
  }
  return {level, components};
}

}  // namespace

std::string EnvoyProgram(const Options& options) {
  return options.binary == Options().binary && !Runs(options.binary) ? kInPath : options.binary;
}

bool MayHaveIstioExtensions(const std::string& program) {
  const int file = open(PathOf(program).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  struct stat facts {};
  bool may = true;
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  if (fstat(file, &facts) == 0 && facts.st_size > static_cast<off_t>(kElf.size())) {
    const auto size = static_cast<size_t>(facts.st_size);
    void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      const bool elf = std::memcmp(bytes, kElf.data(), kElf.size()) == 0;
      may = !elf || memmem(bytes, size, kExtension.data(), kExtension.size()) != nullptr;
      munmap(bytes, size);
    }
  }
  close(file);
  return may;
}

bool DiscoversPeers(const Options& options) {
  const bool waypoint = options.type == "waypoint";
  return options.istio_extensions &&
         (waypoint || (options.delta && JsonString(options.metadata, "METADATA_DISCOVERY") == "true"));
}

std::vector<std::string> EnvoyCommand(const Options& options, const std::string& bootstrap_file,
                                      const std::string& override_json) {
  std::vector<std::string> command = {
      EnvoyProgram(options),
      "-c",
      bootstrap_file,
      "--drain-time-s",
      StrCat(options.drain_duration.count() / 1000),
      "--drain-strategy",
      "immediate",
      "--local-address-ip-version",
      AllIpv6(options.addresses) ? "v6" : "v4",
      "--file-flush-interval-msec",
      StrCat(options.file_flush_interval.count()),
  };
  const auto add = [&command](std::string flag, std::string value) {
    command.push_back(std::move(flag));
    command.push_back(std::move(value));
  };
  if (options.base_id >= 0) {
    add("--base-id", StrCat(options.base_id));
  } else {
    command.emplace_back("--disable-hot-restart");
  }
  command.emplace_back("--allow-unknown-static-fields");
  if (options.file_flush_min_size_kb > 0)
    add("--file-flush-min-size-kb", StrCat(options.file_flush_min_size_kb));
  const auto [level, components] = SplitLevels(options.log_level);
  if (!level.empty()) add("-l", level);
  const std::string& of_components = components.empty() ? options.component_log_level : components;
  if (!of_components.empty()) add("--component-log-level", of_components);
  if (options.skip_deprecated_logs) command.emplace_back("--skip-deprecated-logs");
  if (options.core_dump) command.emplace_back("--enable-core-dump");
  if (!override_json.empty()) add("--config-yaml", override_json);
  if (options.concurrency > 0) add("--concurrency", StrCat(options.concurrency));
  return command;
}

std::vector<std::pair<std::string, std::string>> EnvoyVariables(const Options& options) {
  if (options.compliance != "fips-140-2" && options.compliance != "fips-140-3") return {};
  return {{"GRPC_SSL_CIPHER_SUITES",
           "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
           "ECDHE-RSA-AES256-GCM-SHA384"}};
}

absl::StatusOr<std::string> OverrideJson(const std::string& text, const std::string& host_ip) {
  const bool v6 = host_ip.find(':') != std::string::npos;
  const std::string host = v6 ? StrCat("[", host_ip, "]") : host_ip;
  const std::string filled =
      ReplaceAll(v6 ? ReplaceAll(text, "[$(HOST_IP)]", host) : text, "$(HOST_IP)", host);
  const config::YamlDocument document = config::ParseYamlDocument(filled);
  if (!document.problems.empty())
    return absl::InvalidArgumentError(
        StrCat("line ", document.problems.front().line, ": ", document.problems.front().message));
  if (!document.tree.root().IsMapping()) return absl::InvalidArgumentError("not a mapping");
  // Envoy reads it from its command line, keys in order.
  const auto sorted = ParseJson(JsonText(config::ToJson(document.tree.root())));
  return JsonText(sorted.value_or(nlohmann::json::object()));
}

}  // namespace fairlead::agent
