#ifndef FAIRLEAD_BASE_IP_ADDRESS_H_
#define FAIRLEAD_BASE_IP_ADDRESS_H_

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead {

// An IPv4 or IPv6 address. A plain value.
class IpAddress {
 public:
  // Strict: "10.1.2.3" without leading zeros, or IPv6 in any spelling, a zone ("fe80::1%eth0") allowed and
  // dropped. Nothing where `text` is not an address. "::ffff:10.1.2.3" counts as IPv6.
  static std::optional<IpAddress> Parse(std::string_view text);

  bool is_v4() const { return v4_; }
  bool is_v6() const { return !v4_; }
  bool is_loopback() const;
  bool is_unspecified() const;  // 0.0.0.0 or ::
  // Neither unspecified, loopback, multicast, link-local nor the broadcast address (Go: IsGlobalUnicast).
  bool is_global_unicast() const;
  int bit_length() const { return v4_ ? 32 : 128; }
  bool Bit(int index) const { return (bytes_[index / 8] >> (7 - index % 8)) & 1; }
  std::string ToString() const;  // the canonical spelling
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

 private:
  friend struct IpPrefix;
  bool v4_ = true;
  std::array<uint8_t, 16> bytes_{};  // the first four of an IPv4 address
};

inline bool IsIpAddress(std::string_view text) { return IpAddress::Parse(text).has_value(); }

// A range of addresses in CIDR notation.
struct IpPrefix {
  IpAddress address;  // as written: bits behind the mask may be set
  int bits = 0;

  // "10.0.0.0/8", "2001:db8::/32"; nothing where it is not one ("10.0.0.1" alone is not).
  static std::optional<IpPrefix> Parse(std::string_view text);
  // The same, or an address alone, as the range of that one.
  static std::optional<IpPrefix> ParseRange(std::string_view text);
  // The range without the bits behind the mask: "10.1.2.3/8" is "10.0.0.0/8".
  IpPrefix Masked() const;
  std::string ToString() const;
  bool Contains(const IpAddress& other) const;
  bool is_single() const { return bits == address.bit_length(); }
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_IP_ADDRESS_H_
