#include "model/proxy.h"

#include <algorithm>

#include "base/ip_address.h"
#include "base/strings.h"
#include "envoy/config/core/v3/base.pb.h"
#include "google/protobuf/struct.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
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

bool IsServed(ProxyType type) { return type == ProxyType::kSidecar || type == ProxyType::kRouter; }

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

// A stock Envoy lists some 500 extensions.
constexpr size_t kExtensionsPerEntry = 4;

absl::Status CheckTexts(const envoy::config::core::v3::Node& node, const NodeLimits& limits) {
  const auto check = [&](std::string_view what, std::string_view text) {
    if (text.size() <= limits.text) return absl::OkStatus();
    return absl::InvalidArgumentError(
        StrCat("the node's ", what, " has ", text.size(), " bytes, of at most ", limits.text));
  };
  absl::Status status = check("id", node.id());
  status.Update(check("cluster", node.cluster()));
  status.Update(check("region", node.locality().region()));
  status.Update(check("zone", node.locality().zone()));
  status.Update(check("sub_zone", node.locality().sub_zone()));
  for (const auto& extension : node.extensions()) status.Update(check("extension", extension.name()));
  if (static_cast<size_t>(node.extensions_size()) > limits.entries * kExtensionsPerEntry) {
    status.Update(
        absl::InvalidArgumentError(StrCat("the node has ", node.extensions_size(), " extensions, of at most ",
                                          limits.entries * kExtensionsPerEntry)));
  }
  return status;
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

absl::StatusOr<ProxyPtr> ParseProxy(const envoy::config::core::v3::Node& node, const NodeLimits& limits) {
  if (absl::Status status = CheckTexts(node, limits); !status.ok()) return status;
  const std::vector<std::string_view> parts = Split(node.id(), '~');
  if (parts.size() != 4) {
    return absl::InvalidArgumentError(StrCat("missing parts in the service node \"", node.id(), "\""));
  }
  const std::optional<ProxyType> type = ParseProxyType(parts[0]);
  if (!type)
    return absl::InvalidArgumentError(StrCat("invalid node type in the service node \"", node.id(), "\""));
  if (!IsServed(*type))
    return absl::UnimplementedError(StrCat("proxies of the type ", parts[0], " are not served"));
  absl::StatusOr<ProxyMetadata> metadata = ParseProxyMetadata(node.metadata(), limits);
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
  proxy->proxy_class = ClassOf(*proxy);
  return ProxyPtr(std::move(proxy));
}

absl::StatusOr<ProxyPtr> ReadProxy(std::string_view encoded, const NodeLimits& limits) {
  if (absl::Status status = CheckNode(encoded, limits); !status.ok()) return status;
  envoy::config::core::v3::Node node;
  if (!node.ParseFromArray(encoded.data(), static_cast<int>(encoded.size())))
    return absl::InvalidArgumentError("the node cannot be read: it is no Node, or a text is not UTF-8");
  if (node.id().empty()) return absl::InvalidArgumentError("missing node information");
  return ParseProxy(node, limits);
}

size_t MemoryOf(const Proxy& proxy) {
  constexpr size_t kObject = 2048, kEntry = 128, kString = 64;  // with what an allocation costs
  const ProxyMetadata& metadata = proxy.metadata;
  size_t bytes =
      kObject + proxy.node_id.size() + proxy.id.size() + proxy.domain.size() + proxy.cluster.size();
  for (const LabelMap* labels : {&metadata.labels, &metadata.static_labels, &metadata.platform_metadata}) {
    for (const auto& [key, value] : *labels) bytes += kEntry + key.size() + value.size();
  }
  for (const auto* texts : {&metadata.instance_ips, &metadata.requested_network_view, &proxy.ip_addresses}) {
    for (const std::string& text : *texts) bytes += kString + text.size();
  }
  bytes += metadata.pod_ports.size() * (sizeof(PodPort) + kString);
  if (metadata.proxy_config != nullptr) bytes += metadata.proxy_config->SpaceUsedLong();
  if (metadata.raw != nullptr) bytes += metadata.raw->bytes().size();
  if (proxy.extensions != nullptr) bytes += proxy.extensions->size() * kEntry;
  return bytes;
}

}  // namespace fairlead::model
