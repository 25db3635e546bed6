#include "agent/bootstrap/workload_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "base/ip_address.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

struct InterfaceAddress {
  unsigned index = 0;
  bool v6 = false;
  std::string interface, address;
};

// "" for addresses that no other machine can use.
std::string Usable(const sockaddr* socket) {
  char text[INET6_ADDRSTRLEN] = "";
  if (socket->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(socket);
    const uint32_t host = ntohl(v4->sin_addr.s_addr);
    const bool link_local = (host >> 16) == 0xa9fe, multicast_of_link = (host >> 8) == 0xe00000;
    if (host == 0 || (host >> 24) == 127 || link_local || multicast_of_link) return "";
    return inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
  }
  if (socket->sa_family != AF_INET6) return "";
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(socket)->sin6_addr;
  if (IN6_IS_ADDR_LINKLOCAL(&v6) || IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_UNSPECIFIED(&v6) ||
      IN6_IS_ADDR_MC_LINKLOCAL(&v6))
    return "";
  return inet_ntop(AF_INET6, &v6, text, sizeof text);
}

// In the interfaces' order, IPv4 first.
std::vector<InterfaceAddress> InterfaceAddresses() {
  constexpr size_t kMost = 1000;
  std::vector<InterfaceAddress> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  for (const ifaddrs* one = list; one != nullptr && found.size() < kMost; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    std::string address = Usable(one->ifa_addr);
    if (address.empty()) continue;
    found.push_back({if_nametoindex(one->ifa_name), one->ifa_addr->sa_family == AF_INET6, one->ifa_name,
                     std::move(address)});
  }
  freeifaddrs(list);
  std::stable_sort(found.begin(), found.end(), [](const InterfaceAddress& a, const InterfaceAddress& b) {
    return std::tie(a.index, a.v6) < std::tie(b.index, b.v6);
  });
  return found;
}

bool Has(const std::vector<std::string>& list, std::string_view one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

}  // namespace

std::vector<std::string> WorkloadAddresses(std::string_view instance_ip, std::string_view excluded) {
  std::vector<std::string> addresses;
  for (const std::string_view part : Split(instance_ip, ',')) {
    const auto parsed = IpAddress::Parse(Trim(part));
    if (parsed && !Has(addresses, parsed->ToString())) addresses.push_back(parsed->ToString());
  }
  if (addresses.size() > 1) return addresses;
  std::vector<std::string> without;
  for (const std::string_view name : Split(excluded, ',')) without.emplace_back(Trim(name));
  const std::vector<InterfaceAddress> interfaces = InterfaceAddresses();
  for (const InterfaceAddress& one : interfaces) {
    if (!Has(without, one.interface) && !Has(addresses, one.address)) addresses.push_back(one.address);
  }
  if (!interfaces.empty()) return addresses;
  for (const char* loopback : {"127.0.0.1", "::1"}) {
    if (!Has(addresses, loopback)) addresses.emplace_back(loopback);
  }
  return addresses;
}

bool AllIpv6(const std::vector<std::string>& addresses) {
  return !addresses.empty() && std::all_of(addresses.begin(), addresses.end(), [](const std::string& one) {
    return one.find(':') != std::string::npos;
  });
}

Reach ReachOf(const std::vector<std::string>& addresses, bool dual_stack) {
  const auto is_v6 = [](const std::string& one) { return one.find(':') != std::string::npos; };
  Reach v4, v6;
  v6.localhost = "::1";
  v6.wildcard = "::";
  v6.lookup_family = "V6_ONLY";
  if (AllIpv6(addresses)) return v6;
  if (!dual_stack || std::none_of(addresses.begin(), addresses.end(), is_v6)) return v4;
  Reach both = is_v6(addresses.front()) ? v6 : v4;
  const Reach& other = is_v6(addresses.front()) ? v4 : v6;
  both.lookup_family = "ALL";
  both.other_localhost = other.localhost;
  both.other_wildcard = other.wildcard;
  return both;
}

std::pair<std::string, int> SplitAddress(const std::string& text, int default_port) {
  const size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string::npos) return {text, default_port};
    const bool has_port = colon != std::string::npos && colon > end;
    return {text.substr(1, end - 1), has_port ? std::atoi(text.c_str() + colon + 1) : default_port};
  }
  if (colon == std::string::npos) return {text, default_port};
  return {text.substr(0, colon), std::atoi(text.c_str() + colon + 1)};
}

}  // namespace fairlead::agent
