#include "source/consul/consul_options.h"

#include <utility>

#include "base/strings.h"

namespace fairlead::source {
namespace {

// An agent has 200 connections for a client (limits.http_max_conns_per_client). Over TLS a connection carries
// many questions.
constexpr size_t kPlainWatches = 128, kTlsWatches = 4000;

ConsulReady ReadyOf(const std::string& text) {
  if (text == "passing") return ConsulReady::kPassing;
  return text == "any" ? ConsulReady::kAny : ConsulReady::kWarning;
}

}  // namespace

absl::StatusOr<ConsulOptions> ParseConsulOptions(std::string_view url) {
  absl::StatusOr<SourceUrl> parsed = ParseSourceUrl(url, kConsulPort);
  if (!parsed.ok()) return parsed.status();
  ConsulOptions options;
  options.url = *std::move(parsed);
  OptionReader reader(options.url);
  if (!options.url.path.empty())
    return absl::InvalidArgumentError(ToAbsl(StrCat(options.url.Name(), ": Consul has no path")));
  options.platform = ReadPlatformOptions(reader, "consul", {"{name}.service.consul"}, {"name", "dc"});
  options.datacenters = reader.List("dc");
  options.ns = reader.Text("consulNamespace");
  options.partition = reader.Text("consulPartition");
  options.filter = reader.Text("filter");
  options.consistency = reader.OneOf("consistency", {"stale", "default", "consistent"});
  options.ready = ReadyOf(reader.OneOf("ready", {"warning", "passing", "any"}));
  options.address = reader.Text("address");
  options.network = reader.Text("network");
  if (ExpandTemplate(options.network, {{"dc", "x"}}).find_first_of("{}") != std::string::npos)
    reader.Fail("network", StrCat("is \"", options.network, "\"; known is {dc}"));
  options.port = static_cast<uint32_t>(reader.Number("port", 0, 1, 65'535));
  options.watches = static_cast<size_t>(
      reader.Number("watches", options.platform.tls ? kTlsWatches : kPlainWatches, 4, 100'000));
  options.plain_tags = reader.Flag("plainTags", true);
  options.intentions = reader.Flag("intentions", false);
  options.allowed_by_default = reader.OneOf("intentionDefault", {"deny", "allow"}) == "allow";
  options.intention_label = reader.Text("intentionLabel", "app");
  options.principal = reader.Text("principal", "*/ns/{namespace}/sa/{name}");
  if (options.principal.find("{name}") == std::string::npos)
    reader.Fail("principal", StrCat("is \"", options.principal, "\" without {name}"));
  if (ExpandTemplate(options.principal, {{"name", "x"}, {"namespace", "x"}}).find_first_of("{}") !=
      std::string::npos)
    reader.Fail("principal", StrCat("is \"", options.principal, "\"; known are {name}, {namespace}"));
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return options;
}

}  // namespace fairlead::source
