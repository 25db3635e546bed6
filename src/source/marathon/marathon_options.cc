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

std::string MarathonOptions::BaseOf(size_t address) const {
  const auto& [host, port] = url.addresses[address % url.addresses.size()];
  return StrCat(platform.tls ? "https://" : "http://", host, ":", port, url.path);
}

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
  options.user = reader.Text("user");
  options.password_file = reader.Text("passwordFile");
  if (options.user.empty() != options.password_file.empty())
    reader.Fail(options.user.empty() ? "passwordFile" : "user",
                "needs the other one of user and passwordFile");
  if (options.user.find(':') != std::string::npos) reader.Fail("user", "has a colon");
  if (!options.user.empty() && !options.platform.token_file.empty())
    reader.Fail("tokenFile", "is there beside user: Marathon takes one of both");
  options.dcos_token = reader.OneOf("tokenScheme", {"bearer", "token"}) == "token";
  options.any_health = reader.OneOf("ready", {"healthy", "any"}) == "any";
  options.address = AddressOf(reader.OneOf("address", {"auto", "host", "container"}));
  options.container_ports = reader.OneOf("port", {"service", "container"}) == "container";
  options.network = reader.Text("network");
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return options;
}

}  // namespace fairlead::source
