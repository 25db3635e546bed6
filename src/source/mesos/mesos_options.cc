#include "source/mesos/mesos_options.h"

#include <charconv>
#include <utility>

#include "base/strings.h"

namespace fairlead::source {
namespace {

MesosAddress AddressOf(const std::string& text) {
  if (text == "host") return MesosAddress::kHost;
  return text == "container" ? MesosAddress::kContainer : MesosAddress::kAuto;
}

// "aurora,!marathon".
void ReadFrameworks(OptionReader& reader, MesosOptions* options) {
  for (const std::string& text : reader.List("frameworks")) {
    const bool is_not = text.starts_with('!');
    const std::string name(Trim(std::string_view(text).substr(is_not ? 1 : 0)));
    if (name.empty()) reader.Fail("frameworks", "has a ! without a name");
    (is_not ? options->other_frameworks : options->frameworks).insert(name);
  }
}

// "8080" or "http:80,admin:9000".
void ReadPorts(OptionReader& reader, MesosOptions* options) {
  constexpr uint32_t kMostPort = 65'535;
  for (const std::string& text : reader.List("ports")) {
    const size_t colon = text.find(':');
    const bool named = colon != std::string::npos;
    const std::string name = named ? AsciiLower(text.substr(0, colon)) : "";
    const std::string_view digits = std::string_view(text).substr(named ? colon + 1 : 0);
    uint32_t number = 0;
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || rest != digits.data() + digits.size() || number == 0 || number > kMostPort)
      reader.Fail("ports", StrCat("has \"", text, "\", neither a port nor NAME:PORT"));
    if (!options->ports.emplace(name, number).second)
      reader.Fail("ports", StrCat("has \"", name, "\" twice"));
  }
}

}  // namespace

absl::StatusOr<MesosOptions> ParseMesosOptions(std::string_view url) {
  absl::StatusOr<SourceUrl> parsed = ParseSourceUrl(url, kMesosPort);
  if (!parsed.ok()) return parsed.status();
  MesosOptions options;
  options.url = *std::move(parsed);
  OptionReader reader(options.url);
  options.platform = ReadPlatformOptions(reader, "{framework}", {"{name}.{framework}.mesos"},
                                         {"name", "framework", "environment", "location", "version"});
  const std::string ns =
      ExpandTemplate(options.platform.ns, {{"framework", "x"}, {"environment", "x"}, {"location", "x"}});
  if (ns.find_first_of("{}") != std::string::npos)
    reader.Fail("namespace",
                StrCat("is \"", options.platform.ns, "\"; known are {framework}, {environment}, {location}"));
  options.user = ReadHttpUser(reader, options.platform);
  ReadFrameworks(reader, &options);
  ReadPorts(reader, &options);
  options.any_health = reader.OneOf("ready", {"healthy", "any"}) == "any";
  options.ignore_visibility = reader.OneOf("visibility", {"export", "ignore"}) == "ignore";
  options.address = AddressOf(reader.OneOf("address", {"auto", "host", "container"}));
  options.prefer_v6 = reader.OneOf("addressFamily", {"ipv4", "ipv6"}) == "ipv6";
  options.network_name = reader.Text("networkName");
  options.network = reader.Text("network");
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return options;
}

}  // namespace fairlead::source
