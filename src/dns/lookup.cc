#include "dns/lookup.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netinet/in.h>

#include <algorithm>

#include "base/strings.h"
#include "dns/message.h"

namespace fairlead::dns {
namespace {

constexpr int kMostRecords = 4'096;
constexpr uint16_t kTypeOpt = 41, kTypeSoa = 6;
constexpr size_t kSrvFixed = 6, kSoaNumbers = 20;

const u_char* Bytes(std::string_view text) { return reinterpret_cast<const u_char*>(text.data()); }

std::string Two(size_t number) {
  return {static_cast<char>(number >> 8 & 0xff), static_cast<char>(number & 0xff)};
}

std::string Plain(std::string_view name) {
  while (name.ends_with('.')) name.remove_suffix(1);
  return AsciiLower(name);
}

// A name in a record, and the bytes that it takes there; nothing where there is none.
std::optional<std::string> NameIn(const ns_msg& handle, const u_char* at, int* taken) {
  char text[NS_MAXDNAME];
  *taken = ns_name_uncompress(ns_msg_base(handle), ns_msg_end(handle), at, text, sizeof text);
  if (*taken < 0) return std::nullopt;
  return Plain(text);
}

bool ReadSrv(const ns_msg& handle, const ns_rr& record, LookupAnswer* answer) {
  if (ns_rr_rdlen(record) <= kSrvFixed) return false;
  const u_char* data = ns_rr_rdata(record);
  SrvRecord service;
  service.priority = static_cast<uint16_t>(ns_get16(data));
  service.weight = static_cast<uint16_t>(ns_get16(data + 2));
  service.port = static_cast<uint16_t>(ns_get16(data + 4));
  service.ttl = static_cast<uint32_t>(ns_rr_ttl(record));
  int taken = 0;
  auto target = NameIn(handle, data + kSrvFixed, &taken);
  if (!target) return false;
  service.target = *std::move(target);
  answer->services.push_back(std::move(service));
  return true;
}

bool ReadAddress(const ns_rr& record, LookupAnswer* answer) {
  const bool v6 = ns_rr_type(record) == kTypeAaaa;
  if (ns_rr_rdlen(record) != (v6 ? sizeof(in6_addr) : sizeof(in_addr))) return false;
  char text[INET6_ADDRSTRLEN];
  inet_ntop(v6 ? AF_INET6 : AF_INET, ns_rr_rdata(record), text, sizeof text);
  answer->addresses.push_back({Plain(ns_rr_name(record)), text, static_cast<uint32_t>(ns_rr_ttl(record))});
  return true;
}

// The smaller one of its own TTL and of its last number.
bool ReadSoa(const ns_msg& handle, const ns_rr& record, LookupAnswer* answer) {
  const u_char *at = ns_rr_rdata(record), *const end = at + ns_rr_rdlen(record);
  for (int names = 0; names < 2; ++names) {
    int taken = 0;
    if (!NameIn(handle, at, &taken)) return false;
    at += taken;
  }
  if (end - at != static_cast<ptrdiff_t>(kSoaNumbers)) return false;
  answer->negative_ttl = std::min(static_cast<uint32_t>(ns_rr_ttl(record)),
                                  static_cast<uint32_t>(ns_get32(at + kSoaNumbers - 4)));
  return true;
}

bool ReadRecord(const ns_msg& handle, const ns_rr& record, ns_sect section, LookupAnswer* answer) {
  if (ns_rr_class(record) != kClassIn) return true;
  const int type = ns_rr_type(record);
  if (type == kTypeSrv && section == ns_s_an) return ReadSrv(handle, record, answer);
  if ((type == kTypeA || type == kTypeAaaa) && section != ns_s_ns) return ReadAddress(record, answer);
  if (type == kTypeSoa && section == ns_s_ns) return ReadSoa(handle, record, answer);
  return true;
}

}  // namespace

std::optional<std::string> MakeLookup(std::string_view name, uint16_t type, uint16_t id) {
  const auto wire = WireName(name);
  if (!wire) return std::nullopt;
  constexpr size_t kWantsRecursion = 0x0100;
  const std::string header = Two(id) + Two(kWantsRecursion) + Two(1) + Two(0) + Two(0) + Two(1);
  const std::string edns = std::string(1, '\0') + Two(kTypeOpt) + Two(kLookupUdp) + std::string(6, '\0');
  return header + *wire + Two(type) + Two(kClassIn) + edns;
}

std::optional<LookupAnswer> ReadLookup(std::string_view message) {
  ns_msg handle;
  if (message.size() > kMostTcp ||
      ns_initparse(Bytes(message), static_cast<int>(message.size()), &handle) != 0)
    return std::nullopt;
  LookupAnswer answer;
  answer.rcode = ns_msg_getflag(handle, ns_f_rcode);
  answer.truncated = ns_msg_getflag(handle, ns_f_tc) != 0;
  int left = kMostRecords;
  for (const ns_sect section : {ns_s_an, ns_s_ns, ns_s_ar}) {
    const int count = std::min<int>(ns_msg_count(handle, section), left);
    left -= count;
    for (int i = 0; i < count; ++i) {
      ns_rr record;
      if (ns_parserr(&handle, section, i, &record) != 0 || !ReadRecord(handle, record, section, &answer))
        return std::nullopt;
    }
  }
  return answer;
}

}  // namespace fairlead::dns
