#include "source/srv/srv_options.h"

#include <optional>
#include <utility>

#include "base/strings.h"
#include "config/check/names.h"

namespace fairlead::source {
namespace {

constexpr uint16_t kDnsPort = 53;
constexpr int64_t kDay = 86'400;

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(ToAbsl(text)); }

// "_service._transport.domain".
absl::StatusOr<SrvName> ReadName(const std::string& text, int port) {
  SrvName name;
  name.name = AsciiLower(text);
  while (name.name.ends_with('.')) name.name.pop_back();
  name.port = static_cast<uint32_t>(port);
  const std::vector<std::string_view> labels = Split(name.name, '.');
  if (labels.size() < 3 || !labels[0].starts_with('_') || !labels[1].starts_with('_'))
    return Wrong(StrCat("\"", text, "\" is no _SERVICE._PROTOCOL.DOMAIN"));
  name.service = labels[0].substr(1);
  name.transport = labels[1].substr(1);
  name.domain = name.name.substr(labels[0].size() + labels[1].size() + 2);
  if (name.transport != "tcp") return Wrong(StrCat("\"", text, "\" is of ", name.transport, ", not of tcp"));
  if (!config::check::IsDns1123Label(name.service))
    return Wrong(StrCat("\"", text, "\" has no name of a service"));
  if (!config::check::IsDns1123Subdomain(name.domain)) return Wrong(StrCat("\"", text, "\" has no domain"));
  return name;
}

std::optional<dns::SocketAddress> ReadResolver(std::string_view text) {
  const auto plain = dns::SocketAddress::Parse(std::string(text), kDnsPort);
  if (plain) return plain;
  std::string_view host, port;
  int64_t number = 0;
  if (!config::check::SplitHostPort(text, &host, &port) || !config::check::ParseGoInteger(port, &number) ||
      number < 1 || number > 65'535)
    return std::nullopt;
  return dns::SocketAddress::Parse(std::string(host), static_cast<uint16_t>(number));
}

}  // namespace

std::string SrvOptions::Name() const {
  std::vector<std::string> all;
  for (const SrvName& name : names)
    all.push_back(name.port == 0 ? name.name : StrCat(name.name, ":", name.port));
  return StrCat("dns+srv://", Join(all, ","));
}

absl::StatusOr<SrvOptions> ParseSrvOptions(std::string_view url) {
  absl::StatusOr<SourceUrl> parsed = ParseSourceUrl(url, 0);
  if (!parsed.ok()) return parsed.status();
  SrvOptions options;
  options.url = *std::move(parsed);
  if (!options.url.path.empty()) return Wrong(StrCat(options.url.Name(), ": DNS has no path"));
  for (const auto& [host, port] : options.url.addresses) {
    auto name = ReadName(host, port);
    if (!name.ok()) return name.status();
    options.names.push_back(*std::move(name));
  }
  OptionReader reader(options.url);
  options.platform = ReadPlatformOptions(reader, "dns", {"{name}"}, {"name", "service"});
  if (options.platform.tls || !options.platform.token_file.empty())
    reader.Fail(options.platform.tls ? "tls" : "tokenFile", "is not of DNS");
  if (options.url.options.contains("selector")) reader.Fail("selector", "is not of DNS, which has no labels");
  for (const std::string& text : reader.List("resolver")) {
    const auto address = ReadResolver(text);
    if (!address) reader.Fail("resolver", StrCat("has \"", text, "\", no IP address with or without a port"));
    if (address) options.resolvers.push_back(*address);
  }
  options.resolver_file = reader.Text("resolverFile", options.resolver_file);
  options.all_priorities = reader.OneOf("priorities", {"first", "all"}) == "all";
  options.network = reader.Text("network");
  options.locality = reader.Text("locality");
  options.least = std::chrono::seconds(reader.Number("leastSeconds", 5, 1, kDay));
  options.most = std::chrono::seconds(reader.Number("mostSeconds", 300, 1, kDay));
  if (options.most < options.least) reader.Fail("mostSeconds", "is below leastSeconds");
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return options;
}

}  // namespace fairlead::source
