#include "fetch/blocked_addresses.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace fairlead::fetch {
namespace {

constexpr const char* kAlways[] = {
    "169.254.0.0/16",     "224.0.0.0/24", "fe80::/10", "ff02::/16",
    "100.100.100.200/32",  // Alibaba Cloud
    "fd00:ec2::/32",       // AWS over IPv6
};

// Of "::ffff:10.0.0.1" the address within.
std::optional<IpAddress> Inner(const IpAddress& address) {
  static const IpPrefix kMapped = *IpPrefix::Parse("::ffff:0:0/96");
  if (address.is_v4() || !kMapped.Contains(address)) return std::nullopt;
  std::string text;
  for (int byte = 12; byte < 16; ++byte) {
    int value = 0;
    for (int bit = 0; bit < 8; ++bit) value = value * 2 + (address.Bit(byte * 8 + bit) ? 1 : 0);
    if (!text.empty()) text += '.';
    text += std::to_string(value);
  }
  return IpAddress::Parse(text);
}

}  // namespace

BlockedAddresses::BlockedAddresses(std::vector<IpPrefix> more) : ranges_(std::move(more)) {
  for (const char* range : kAlways) ranges_.push_back(*IpPrefix::Parse(range));
}

bool BlockedAddresses::Contain(const IpAddress& address) const {
  const IpAddress meant = Inner(address).value_or(address);
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const IpPrefix& range) {
    return range.address.is_v4() == meant.is_v4() && range.Contains(meant);
  });
}

std::optional<IpAddress> AddressOf(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes =
      address.sa_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
          : &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  if (inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr) return std::nullopt;
  return IpAddress::Parse(text.data());
}

}  // namespace fairlead::fetch
