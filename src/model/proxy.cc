#include "model/proxy.h"

#include <algorithm>

#include "base/ip_address.h"
#include "base/strings.h"
#include "envoy/config/core/v3/base.pb.h"
#include "google/protobuf/struct.pb.h"
#include "model/proxy_class.h"

namespace fairlead::model {
namespace {

std::optional<ProxyType> ParseProxyType(std::string_view text) {
  if (text == "sidecar") return ProxyType::kSidecar;
  if (text == "router") return ProxyType::kRouter;
  if (text == "waypoint") return ProxyType::kWaypoint;
  if (text == "ztunnel") return ProxyType::kZtunnel;
  return std::nullopt;
}

// Cuts the digits at the front of `text` off; nothing where there are none, or one is not between `lowest`
// and 9.
std::optional<int> TakeNumber(std::string_view& text, char lowest = '0') {
  size_t length = 0;
  while (length < text.size() && text[length] >= lowest && text[length] <= '9') ++length;
  int number = 0;
  if (std::from_chars(text.data(), text.data() + length, number).ec != std::errc()) return std::nullopt;
  text.remove_prefix(length);
  return number;
}

bool TakeDot(std::string_view& text) {
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  return true;
}

// The metadata's addresses if all are valid; else the one in the node id, which old proxies send alone.
std::vector<std::string> ProxyAddresses(const ProxyMetadata& metadata, std::string_view of_id) {
  if (!metadata.instance_ips.empty() &&
      std::all_of(metadata.instance_ips.begin(), metadata.instance_ips.end(), IsIpAddress)) {
    return metadata.instance_ips;
  }
  if (IsIpAddress(of_id)) return {std::string(of_id)};
  return {};
}

std::string ConfigNamespace(const ProxyMetadata& metadata, std::string_view domain) {
  if (!metadata.ns.empty()) return metadata.ns;
  const size_t dot = domain.find('.');
  return dot == std::string_view::npos ? "" : std::string(domain.substr(0, dot));
}

std::shared_ptr<const ExtensionSet> Extensions(const envoy::config::core::v3::Node& node) {
  std::set<std::string, std::less<>> names;
  for (const auto& extension : node.extensions()) {
    if (!extension.disabled()) names.insert(extension.name());
  }
  return ExtensionSet::Intern(std::move(names));
}

void SetAddressFamilies(Proxy& proxy) {
  for (const std::string& text : proxy.ip_addresses) {
    const std::optional<IpAddress> address = IpAddress::Parse(text);
    proxy.supports_ipv4 |= address->is_v4();
    proxy.supports_ipv6 |= address->is_v6();
  }
}

}  // namespace

IstioVersion ParseIstioVersion(std::string_view text) {
  constexpr std::string_view kReleasePrefix = "release-";
  if (text.starts_with(kReleasePrefix)) text.remove_prefix(kReleasePrefix.size());
  const std::optional<int> major = TakeNumber(text, '1');
  if (!major || !TakeDot(text)) return {};
  const std::optional<int> minor = TakeNumber(text);
  if (!minor) return {};
  IstioVersion version;
  version.major = *major;
  version.minor = *minor;
  if (!TakeDot(text)) return version;
  version.patch = TakeNumber(text).value_or(version.patch);
  return version;
}

absl::StatusOr<ProxyPtr> ParseProxy(const envoy::config::core::v3::Node& node) {
  const std::vector<std::string_view> parts = Split(node.id(), '~');
  if (parts.size() != 4) {
    return absl::InvalidArgumentError(StrCat("missing parts in the service node \"", node.id(), "\""));
  }
  const std::optional<ProxyType> type = ParseProxyType(parts[0]);
  if (!type)
    return absl::InvalidArgumentError(StrCat("invalid node type in the service node \"", node.id(), "\""));
  absl::StatusOr<ProxyMetadata> metadata = ParseProxyMetadata(node.metadata());
  if (!metadata.ok()) return metadata.status();

  auto proxy = std::make_shared<Proxy>();
  proxy->type = *type;
  proxy->metadata = *std::move(metadata);
  proxy->ip_addresses = ProxyAddresses(proxy->metadata, parts[1]);
  if (proxy->ip_addresses.empty()) {
    return absl::InvalidArgumentError("no valid IP address in the service node id or metadata");
  }
  proxy->node_id = node.id();
  proxy->id = parts[2];
  proxy->domain = parts[3];
  proxy->cluster = node.cluster();
  proxy->ns = ConfigNamespace(proxy->metadata, proxy->domain);
  proxy->node_locality = {node.locality().region(), node.locality().zone(), node.locality().sub_zone()};
  proxy->version = ParseIstioVersion(proxy->metadata.istio_version);
  proxy->extensions = Extensions(node);
  SetAddressFamilies(*proxy);
  proxy->cls = ClassOf(*proxy);
  return ProxyPtr(std::move(proxy));
}

}  // namespace fairlead::model
