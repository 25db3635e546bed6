#include "source/marathon/marathon_options.h"

#include <utility>

#include "base/strings.h"

namespace fairlead::source {
namespace {

MarathonAddress AddressOf(const std::string& text) {
  if (text == "host") return MarathonAddress::kHost;
  return text == "container" ? MarathonAddress::kContainer : MarathonAddress::kAuto;
}

}  // namespace

absl::StatusOr<MarathonOptions> ParseMarathonOptions(std::string_view url) {
  absl::StatusOr<SourceUrl> parsed = ParseSourceUrl(url, kMarathonPort);
  if (!parsed.ok()) return parsed.status();
  MarathonOptions options;
  options.url = *std::move(parsed);
  OptionReader reader(options.url);
  options.platform =
      ReadPlatformOptions(reader, "{group}", {"{name}.{group}.marathon.mesh"}, {"name", "group", "groups"});
  if (ExpandTemplate(options.platform.ns, {{"group", "x"}}).find_first_of("{}") != std::string::npos)
    reader.Fail("namespace", StrCat("is \"", options.platform.ns, "\"; known is {group}"));
  options.user = ReadHttpUser(reader, options.platform);
  options.any_health = reader.OneOf("ready", {"healthy", "any"}) == "any";
  options.address = AddressOf(reader.OneOf("address", {"auto", "host", "container"}));
  options.container_ports = reader.OneOf("port", {"service", "container"}) == "container";
  options.network = reader.Text("network");
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return options;
}

}  // namespace fairlead::source
