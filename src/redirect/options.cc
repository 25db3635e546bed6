#include "redirect/options.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <sys/socket.h>

#include <fstream>
#include <memory>
#include <utility>

#include "base/strings.h"

namespace fairlead::redirect {
namespace {

constexpr std::string_view kDefaultUser = "1337";
constexpr size_t kMostGroups = 64, kMostResolvers = 64;
constexpr size_t kMostEntries = 4096;
constexpr size_t kMostWord = 128;

absl::Status Wrong(std::string_view name, std::string_view value, std::string_view why) {
  return absl::InvalidArgumentError(StrCat(name, ": \"", value, "\" ", why));
}

// Loopback, or of a link alone: not the address of a pod.
bool IsLocal(const IpAddress& address) {
  static const IpPrefix kLocal[] = {*IpPrefix::Parse("169.254.0.0/16"), *IpPrefix::Parse("224.0.0.0/24"),
                                    *IpPrefix::Parse("fe80::/10"), *IpPrefix::Parse("ff02::/16")};
  if (address.is_loopback()) return true;
  for (const IpPrefix& range : kLocal) {
    if (range.Contains(address)) return true;
  }
  return false;
}

absl::Status FindAddress(const std::vector<std::string>& addresses, RedirectOptions* options) {
  for (const std::string& text : addresses) {
    const auto address = IpAddress::Parse(text);
    if (!address || IsLocal(*address)) continue;
    if (!options->address) options->address = address;
    options->ipv6 = address->is_v6();
    if (!options->dual_stack || options->ipv6) break;
  }
  if (options->address) return absl::OkStatus();
  return absl::FailedPreconditionError("no interface has an address but loopback and link-local ones");
}

absl::Status ReadResolvers(const std::string& file, RedirectOptions* options) {
  std::ifstream in(file);
  if (!in)
    return absl::FailedPreconditionError(StrCat(file, ": cannot be read, and --redirect-dns needs it"));
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string_view> words;
    const std::string plain = ReplaceAll(line, "\t", " ");
    for (std::string_view word : Split(plain, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
    if (words.size() < 2 || words[0] != "nameserver") continue;
    const auto address = IpAddress::Parse(words[1]);
    if (!address) continue;
    auto& resolvers = address->is_v4() ? options->resolvers_v4 : options->resolvers_v6;
    if (resolvers.size() < kMostResolvers) resolvers.push_back(address->ToString());
  }
  return absl::OkStatus();
}

// The number of a user in a file as /etc/passwd; "" where it has none.
std::string UserNumber(const std::string& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string_view> fields = Split(line, ':');
    if (fields.size() > 2 && fields[0] == name) return std::string(fields[2]);
  }
  return "";
}

// A rule is text: no value may end its word.
bool IsWord(std::string_view text) {
  if (text.size() > kMostWord) return false;
  for (const char c : text) {
    if (c <= ' ' || c == 0x7f || std::string_view(";{}#\"'\\`$").find(c) != std::string_view::npos)
      return false;
  }
  return true;
}

struct NamedList {
  std::string_view name;
  std::string RedirectOptions::*value;
};
constexpr NamedList kLists[] = {
    {"--envoy-port", &RedirectOptions::outbound_port},
    {"--inbound-capture-port", &RedirectOptions::inbound_port},
    {"--inbound-tunnel-port", &RedirectOptions::tunnel_port},
    {"--proxy-uid", &RedirectOptions::proxy_users},
    {"--proxy-gid", &RedirectOptions::proxy_groups},
    {"--istio-inbound-tproxy-mark", &RedirectOptions::tproxy_mark},
    {"--istio-inbound-tproxy-route-table", &RedirectOptions::tproxy_table},
    {"--istio-inbound-ports", &RedirectOptions::inbound_ports},
    {"--istio-local-exclude-ports", &RedirectOptions::excluded_inbound_ports},
    {"--istio-exclude-interfaces", &RedirectOptions::excluded_interfaces},
    {"--istio-outbound-ports", &RedirectOptions::outbound_ports},
    {"--istio-local-outbound-ports-exclude", &RedirectOptions::excluded_outbound_ports},
    {"--kube-virt-interfaces", &RedirectOptions::virtual_interfaces},
    {"ISTIO_OUTBOUND_OWNER_GROUPS", &RedirectOptions::owner_groups},
    {"ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE", &RedirectOptions::excluded_owner_groups},
};

absl::Status CheckLoopback(const std::string& text) {
  constexpr std::string_view kName = "ISTIO_OUTBOUND_IPV4_LOOPBACK_CIDR";
  const auto range = IpPrefix::Parse(text);
  if (!range) return Wrong(kName, text, "is no range like 127.0.0.1/32");
  if (!range->address.is_v4() || !range->address.is_loopback() || range->bits < 8)
    return Wrong(kName, text, "is not within 127.0.0.0/8");
  return absl::OkStatus();
}

}  // namespace

AddressSources CurrentAddresses() {
  AddressSources sources;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return sources;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    char text[INET6_ADDRSTRLEN];
    if (one->ifa_addr->sa_family == AF_INET) {
      const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
      sources.addresses.emplace_back(inet_ntop(AF_INET, &address->sin_addr, text, sizeof text));
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      const auto* address = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
      sources.addresses.emplace_back(inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text));
    }
  }
  return sources;
}

absl::Status FillIn(const AddressSources& sources, RedirectOptions* options) {
  if (options->proxy_users.empty()) options->proxy_users = UserNumber(sources.user_file, sources.proxy_user);
  if (options->proxy_users.empty()) options->proxy_users = kDefaultUser;
  if (options->proxy_groups.empty()) options->proxy_groups = options->proxy_users;
  if (absl::Status status = FindAddress(sources.addresses, options); !status.ok()) return status;
  if (!options->redirect_dns || options->capture_all_dns) return absl::OkStatus();
  return ReadResolvers(sources.resolver_file, options);
}

absl::Status Check(const RedirectOptions& options) {
  for (const NamedList& list : kLists) {
    const std::string& value = options.*list.value;
    const auto entries = Split(value, ',');
    if (entries.size() > kMostEntries) return Wrong(list.name, value.substr(0, 40), "has too many entries");
    for (std::string_view entry : entries) {
      if (!entry.empty() && (Trim(entry).empty() || !IsWord(Trim(entry))))
        return Wrong(list.name, entry, "is no single word of a rule");
    }
  }
  const std::vector<std::string> groups = Entries(options.owner_groups);
  if (options.owner_groups != "*" && groups.size() > kMostGroups)
    return Wrong("ISTIO_OUTBOUND_OWNER_GROUPS", options.owner_groups,
                 StrCat("has ", groups.size(), " groups, and ", kMostGroups, " are the most"));
  if (!options.forced_binary.empty() && options.forced_binary != "legacy" && options.forced_binary != "nft")
    return Wrong("--force-iptables-binary", options.forced_binary, "is neither legacy nor nft");
  return CheckLoopback(options.loopback_range);
}

std::vector<std::string> Entries(std::string_view list) {
  std::vector<std::string> entries;
  for (std::string_view entry : Split(list, ',')) {
    if (!Trim(entry).empty()) entries.emplace_back(Trim(entry));
  }
  return entries;
}

absl::StatusOr<Ranges> ParseRanges(std::string_view flag, std::string_view list) {
  Ranges ranges;
  if (list == "*") {
    ranges.all = true;
    return ranges;
  }
  for (std::string_view entry : Split(list, ',')) {
    if (entry.empty()) continue;
    const auto range = IpPrefix::Parse(entry);
    if (!range) return Wrong(flag, entry, "is no range like 10.0.0.0/8");
    ranges.has_loopback = ranges.has_loopback || range->address.is_loopback();
    (range->address.is_v4() ? ranges.v4 : ranges.v6).push_back(*range);
  }
  return ranges;
}

absl::StatusOr<Ranges> IncludedRanges(const RedirectOptions& options) {
  return ParseRanges("--istio-service-cidr", options.ranges);
}

absl::StatusOr<Ranges> ExcludedRanges(const RedirectOptions& options) {
  constexpr std::string_view kFlag = "--istio-service-exclude-cidr";
  auto ranges = ParseRanges(kFlag, options.excluded_ranges);
  if (ranges.ok() && ranges->all) return Wrong(kFlag, "*", "is no range like 10.0.0.0/8");
  return ranges;
}

bool CapturesDns(const RedirectOptions& options) {
  return options.redirect_dns &&
         (options.capture_all_dns || !options.resolvers_v4.empty() || !options.resolvers_v6.empty());
}

}  // namespace fairlead::redirect
