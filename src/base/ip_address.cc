#include "base/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace fairlead {
namespace {

// inet_pton needs a terminated string; no address is longer than this.
constexpr size_t kMaxText = INET6_ADDRSTRLEN;

bool FromText(int family, std::string_view text, uint8_t* bytes) {
  if (text.empty() || text.size() >= kMaxText) return false;
  char terminated[kMaxText] = {};
  std::memcpy(terminated, text.data(), text.size());
  return std::strlen(terminated) == text.size() && inet_pton(family, terminated, bytes) == 1;
}

}  // namespace

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  IpAddress address;
  if (text.find(':') == std::string_view::npos) {
    if (!FromText(AF_INET, text, address.bytes_.data())) return std::nullopt;
    return address;
  }
  if (const size_t zone = text.find('%'); zone != std::string_view::npos) {
    if (zone + 1 == text.size()) return std::nullopt;
    text = text.substr(0, zone);
  }
  address.v4_ = false;
  if (!FromText(AF_INET6, text, address.bytes_.data())) return std::nullopt;
  return address;
}

bool IpAddress::is_loopback() const {
  if (v4_) return bytes_[0] == 127;
  return bytes_[15] == 1 && std::all_of(bytes_.begin(), bytes_.end() - 1, [](uint8_t b) { return b == 0; });
}

bool IpAddress::is_unspecified() const {
  return std::all_of(bytes_.begin(), bytes_.end(), [](uint8_t b) { return b == 0; });
}

bool IpAddress::is_global_unicast() const {
  if (is_unspecified() || is_loopback()) return false;
  if (!v4_) return bytes_[0] != 0xff && !(bytes_[0] == 0xfe && (bytes_[1] & 0xc0) == 0x80);
  const bool multicast = (bytes_[0] & 0xf0) == 0xe0;
  const bool link_local = bytes_[0] == 169 && bytes_[1] == 254;
  const bool broadcast = std::all_of(bytes_.begin(), bytes_.begin() + 4, [](uint8_t b) { return b == 0xff; });
  return !multicast && !link_local && !broadcast;
}

std::string IpAddress::ToString() const {
  char text[kMaxText];
  inet_ntop(v4_ ? AF_INET : AF_INET6, bytes_.data(), text, sizeof text);
  return text;
}

std::optional<IpPrefix> IpPrefix::Parse(std::string_view text) {
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || text.find('%') != std::string_view::npos) return std::nullopt;
  const std::optional<IpAddress> address = IpAddress::Parse(text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  if (!address || digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0'))
    return std::nullopt;
  IpPrefix prefix{*address, 0};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix.bits);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (prefix.bits < 0 || prefix.bits > address->bit_length()) return std::nullopt;
  return prefix;
}

std::optional<IpPrefix> IpPrefix::ParseRange(std::string_view text) {
  if (text.find('/') != std::string_view::npos) return Parse(text);
  const std::optional<IpAddress> address = IpAddress::Parse(text);
  if (!address) return std::nullopt;
  return IpPrefix{*address, address->bit_length()};
}

IpPrefix IpPrefix::Masked() const {
  IpPrefix masked = *this;
  for (int i = 0; i < static_cast<int>(masked.address.bytes_.size()); ++i) {
    const int kept = std::clamp(bits - i * 8, 0, 8);
    masked.address.bytes_[i] &= static_cast<uint8_t>(0xff << (8 - kept));
  }
  return masked;
}

std::string IpPrefix::ToString() const { return address.ToString() + '/' + std::to_string(bits); }

bool IpPrefix::Contains(const IpAddress& other) const {
  if (other.is_v4() != address.is_v4()) return false;
  for (int i = 0; i < bits; ++i) {
    if (address.Bit(i) != other.Bit(i)) return false;
  }
  return true;
}

}  // namespace fairlead
