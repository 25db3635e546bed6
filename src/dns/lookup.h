#ifndef FAIRLEAD_DNS_LOOKUP_H_
#define FAIRLEAD_DNS_LOOKUP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Questions of our own to resolvers, and their answers, read and written by glibc's resolver library
// (docs/adr/0018). Pure. Sources: RFC 1035, RFC 2782 (SRV), RFC 2308 (negative answers), RFC 6891 (EDNS).
namespace fairlead::dns {

inline constexpr uint16_t kTypeSrv = 33;
inline constexpr size_t kLookupUdp = 1'232;  // bytes of an answer over UDP

// A query of class IN that wants recursion; nothing where the text is no name.
std::optional<std::string> MakeLookup(std::string_view name, uint16_t type, uint16_t id);

struct SrvRecord {
  uint16_t priority = 0, weight = 0, port = 0;
  std::string target;  // without a dot at its end, in lower case; "": the service is not there
  uint32_t ttl = 0;    // seconds
  friend bool operator==(const SrvRecord&, const SrvRecord&) = default;
};
struct AddressRecord {
  std::string owner, address;  // "web-1.example.com", "10.0.0.1"
  uint32_t ttl = 0;
  friend bool operator==(const AddressRecord&, const AddressRecord&) = default;
};

struct LookupAnswer {
  int rcode = 0;                              // 0: no error, 3: there is no such name
  bool truncated = false;                     // there is more over TCP
  std::vector<SrvRecord> services;            // of the answer
  std::vector<AddressRecord> addresses;       // of the answer and of the additional records
  std::optional<uint32_t> negative_ttl = {};  // how long the absence of records may be believed
};
// Nothing where the message cannot be read; at most 4,096 records count.
std::optional<LookupAnswer> ReadLookup(std::string_view message);

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_LOOKUP_H_
