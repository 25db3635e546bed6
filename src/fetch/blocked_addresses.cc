#include "fetch/blocked_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/strings.h"

namespace fairlead::fetch {
namespace {

constexpr const char* kAlways[] = {
    "169.254.0.0/16",     "224.0.0.0/24", "fe80::/10", "ff02::/16",
    "100.100.100.200/32",  // Alibaba Cloud
    "fd00:ec2::/32",       // AWS over IPv6
};

// IPv6 addresses that hold an IPv4 one, from this byte on.
struct Holder {
  IpPrefix range;
  int byte;
};

const std::vector<Holder>& Holders() {
  static const auto* all = new std::vector<Holder>{
      {*IpPrefix::Parse("::ffff:0:0/96"), 12},   // mapped
      {*IpPrefix::Parse("::/96"), 12},           // compatible
      {*IpPrefix::Parse("64:ff9b::/96"), 12},    // NAT64
      {*IpPrefix::Parse("64:ff9b:1::/48"), 12},  // NAT64 of a network's own
      {*IpPrefix::Parse("2002::/16"), 2},        // 6to4
  };
  return *all;
}

IpAddress InnerOf(const IpAddress& address, int first) {
  std::string text;
  for (int byte = first; byte < first + 4; ++byte) {
    int value = 0;
    for (int bit = 0; bit < 8; ++bit) value = value * 2 + (address.Bit(byte * 8 + bit) ? 1 : 0);
    if (!text.empty()) text += '.';
    text += std::to_string(value);
  }
  return *IpAddress::Parse(text);
}

bool In(const IpPrefix& range, const IpAddress& address) {
  return range.address.is_v4() == address.is_v4() && range.Contains(address);
}

std::vector<IpPrefix> Ranges(std::initializer_list<const char*> texts) {
  std::vector<IpPrefix> ranges;
  for (const char* text : texts) ranges.push_back(*IpPrefix::Parse(text));
  return ranges;
}

bool IsOfAnInterface(const IpAddress& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(list, freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr != nullptr && AddressOf(*one->ifa_addr) == address) return true;
  }
  return false;
}

}  // namespace

BlockedAddresses::BlockedAddresses(std::vector<IpPrefix> more) : ranges_(std::move(more)) {
  for (const char* range : kAlways) ranges_.push_back(*IpPrefix::Parse(range));
}

void BlockedAddresses::BlockRanges(const std::vector<IpPrefix>& more) {
  ranges_.insert(ranges_.end(), more.begin(), more.end());
}

bool BlockedAddresses::Contain(const IpAddress& address) const {
  const std::vector<IpAddress> reached = Reached(address);
  return std::any_of(reached.begin(), reached.end(), [this](const IpAddress& one) {
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [&one](const IpPrefix& range) { return In(range, one); });
  });
}

std::string BlockedAddresses::Blocks(const sockaddr& address) const {
  return Blocks(AddressOf(address), PortOf(address));
}

std::string BlockedAddresses::Blocks(const std::optional<IpAddress>& ip, int port) const {
  if (!ip) return "no IP address";
  if (Contain(*ip)) return ip->ToString();
  if (endpoints_ == nullptr) return "";
  for (const IpAddress& one : Reached(*ip)) {
    if (!endpoints_(one, port)) continue;
    return ip->is_v4() ? StrCat(ip->ToString(), ":", port) : StrCat("[", ip->ToString(), "]:", port);
  }
  return "";
}

std::vector<IpAddress> Reached(const IpAddress& address) {
  static const IpAddress kLoopback4 = *IpAddress::Parse("127.0.0.1"), kLoopback6 = *IpAddress::Parse("::1");
  static const IpPrefix kThisHost = *IpPrefix::Parse("0.0.0.0/8");
  std::vector<IpAddress> reached = {address};
  for (const Holder& holder : Holders()) {
    if (In(holder.range, address)) reached.push_back(InnerOf(address, holder.byte));
  }
  if (address.is_v6() && address.is_unspecified()) reached.push_back(kLoopback6);
  if (std::any_of(reached.begin(), reached.end(), [](const IpAddress& one) { return In(kThisHost, one); }))
    reached.push_back(kLoopback4);
  return reached;
}

bool IsOwnAddress(const IpAddress& address) {
  static const IpPrefix kLoopback = *IpPrefix::Parse("127.0.0.0/8");
  const std::vector<IpAddress> reached = Reached(address);
  return std::any_of(reached.begin(), reached.end(), [](const IpAddress& one) {
    return one.is_loopback() || In(kLoopback, one) || IsOfAnInterface(one);
  });
}

const std::vector<IpPrefix>& PrivateRanges() {
  static const auto* ranges =
      new std::vector<IpPrefix>(Ranges({"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10",
                                        "127.0.0.0/8", "::1/128", "fc00::/7", "fec0::/10"}));
  return *ranges;
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

int PortOf(const sockaddr& address) {
  return ntohs(address.sa_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace fairlead::fetch
