#include "source/mcp/mcp_options.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace fairlead::source {

std::vector<config::Kind> McpKinds() {
  std::vector<config::Kind> kinds;
  for (const config::KindInfo& kind : config::AllKinds()) {
    if (kind.payload != config::PayloadType::kStruct && kind.group != "networking.k8s.io")
      kinds.push_back(kind.kind);
  }
  return kinds;
}

std::string McpTypeUrl(config::Kind kind) {
  const config::KindInfo& info = config::InfoOf(kind);
  return StrCat(info.group, "/", info.versions.front(), "/", info.name);
}

absl::StatusOr<McpOptions> ParseMcpOptions(std::string_view url) {
  absl::StatusOr<SourceUrl> parsed = ParseSourceUrl(url, kMcpPort);
  if (!parsed.ok()) return parsed.status();
  McpOptions options;
  options.url = *std::move(parsed);
  if (!options.url.path.empty())
    return absl::InvalidArgumentError(ToAbsl(StrCat(options.url.Name(), ": a server of xDS has no path")));
  OptionReader reader(options.url);
  options.platform = ReadPlatformOptions(reader, "", {}, {});
  if (!options.platform.ns.empty()) reader.Fail("namespace", "is not for xDS: each object says its own");
  options.delta = reader.OneOf("protocol", {"sotw", "delta"}) == "delta";
  options.services = reader.Flag("services", false);
  options.node =
      reader.Text("node", "sidecar~127.0.0.1~fairlead.istio-system~istio-system.svc.cluster.local");
  const std::vector<config::Kind> known = McpKinds();
  for (const std::string& name : reader.List("kinds")) {
    const size_t before = options.kinds.size();
    for (const config::Kind kind : known) {
      if (config::InfoOf(kind).name == name) options.kinds.push_back(kind);
    }
    if (options.kinds.size() == before) reader.Fail("kinds", StrCat("has an unknown kind: ", name));
  }
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  if (options.kinds.empty()) options.kinds = known;
  return options;
}

}  // namespace fairlead::source
