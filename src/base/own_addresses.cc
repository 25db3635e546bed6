#include "base/own_addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <memory>
#include <string_view>
#include <utility>

namespace fairlead {
namespace {

constexpr size_t kMost = 100;

std::string TextOf(const ifaddrs& one) {
  if (one.ifa_addr == nullptr || (one.ifa_flags & IFF_UP) == 0) return "";
  const bool v6 = one.ifa_addr->sa_family == AF_INET6;
  if (!v6 && one.ifa_addr->sa_family != AF_INET) return "";
  char text[NI_MAXHOST] = "";
  const socklen_t size = v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (getnameinfo(one.ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return "";
  return std::string_view(text).find('%') == std::string_view::npos ? text : "";
}

}  // namespace

std::vector<std::string> OwnAddresses() {
  std::vector<std::string> addresses;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return addresses;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr && addresses.size() < kMost; one = one->ifa_next) {
    if (std::string text = TextOf(*one); !text.empty()) addresses.push_back(std::move(text));
  }
  return addresses;
}

}  // namespace fairlead
