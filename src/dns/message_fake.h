#ifndef FAIRLEAD_DNS_MESSAGE_FAKE_H_
#define FAIRLEAD_DNS_MESSAGE_FAKE_H_

#include <arpa/inet.h>
#include <arpa/nameser.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "dns/message.h"
#include "istio/networking/nds/v1/nds.pb.h"

// Messages of a client and of a resolver, for tests.
namespace fairlead::dns {

inline std::string Two(size_t number) {
  return {static_cast<char>(number >> 8 & 0xff), static_cast<char>(number & 0xff)};
}

struct FakeQuery {
  std::string name;
  uint16_t type = kTypeA;
  uint16_t id = 7;
  size_t edns = 0;  // the size that it advertises; 0: no EDNS
  uint16_t dns_class = kClassIn;
};

inline std::string MakeQuery(const FakeQuery& query) {
  std::string bytes = Two(query.id) + Two(0x0100) + Two(1) + Two(0) + Two(0) + Two(query.edns > 0 ? 1 : 0);
  // WireName writes lower case; labels keep the case of the text here.
  const std::string wire = WireName(query.name).value_or(std::string(1, '\0'));
  std::string name = wire;
  for (size_t i = 0, at = 1; i < query.name.size() && at < name.size(); ++i, ++at)
    name[at] = query.name[i] == '.' ? name[at] : query.name[i];
  bytes += name + Two(query.type) + Two(query.dns_class);
  if (query.edns > 0)
    bytes += std::string(1, '\0') + Two(41) + Two(query.edns) + std::string(4, '\0') + Two(0);
  return bytes;
}

// An answer of a resolver to it: `count` records of 16 bytes, addresses 10.0.0.N.
inline std::string MakeReply(const std::string& query, int count, int rcode = 0, bool truncated = false) {
  ns_msg handle;
  ns_initparse(reinterpret_cast<const u_char*>(query.data()), static_cast<int>(query.size()), &handle);
  std::string bytes = query.substr(0, 2) +
                      Two(static_cast<size_t>(0x8180 | rcode | (truncated ? 0x200 : 0))) + Two(1) +
                      Two(static_cast<size_t>(count)) + Two(0) + Two(0);
  size_t end = 12;
  while (query[end] != 0) end += 1 + static_cast<size_t>(static_cast<uint8_t>(query[end]));
  bytes += query.substr(12, end + 5 - 12);
  for (int i = 1; i <= count; ++i) {
    bytes +=
        Two(0xc00c) + Two(kTypeA) + Two(kClassIn) + Two(0) + Two(60) + Two(4) + std::string("\x0a\0\0", 3);
    bytes.push_back(static_cast<char>(i));
  }
  return bytes;
}

inline std::string RecordText(const ns_msg& handle, const ns_rr& record) {
  std::string text = StrCat(ns_rr_name(record), " ", ns_rr_ttl(record), " ");
  char data[NS_MAXDNAME];
  switch (ns_rr_type(record)) {
    case kTypeA:
      return StrCat(text, "A ", inet_ntop(AF_INET, ns_rr_rdata(record), data, sizeof data));
    case kTypeAaaa:
      return StrCat(text, "AAAA ", inet_ntop(AF_INET6, ns_rr_rdata(record), data, sizeof data));
    case ns_t_cname:
      ns_name_uncompress(ns_msg_base(handle), ns_msg_end(handle), ns_rr_rdata(record), data, sizeof data);
      return StrCat(text, "CNAME ", data);
    default:
      return StrCat(text, "TYPE", static_cast<int>(ns_rr_type(record)));
  }
}

// The records of a section; {"broken"} where the message cannot be read.
inline std::vector<std::string> RecordsOf(std::string_view message, ns_sect section = ns_s_an) {
  ns_msg handle;
  if (ns_initparse(reinterpret_cast<const u_char*>(message.data()), static_cast<int>(message.size()),
                   &handle) != 0)
    return {"broken"};
  std::vector<std::string> texts;
  for (int i = 0; i < ns_msg_count(handle, section); ++i) {
    ns_rr record;
    if (ns_parserr(&handle, section, i, &record) != 0) return {"broken"};
    texts.push_back(RecordText(handle, record));
  }
  return texts;
}

inline int FlagOf(std::string_view message, ns_flag flag) {
  ns_msg handle;
  if (ns_initparse(reinterpret_cast<const u_char*>(message.data()), static_cast<int>(message.size()),
                   &handle) != 0)
    return -1;
  return ns_msg_getflag(handle, flag);
}
inline int RcodeOf(std::string_view message) { return FlagOf(message, ns_f_rcode); }

// A table of the control plane. A Kubernetes name is "NAME.NAMESPACE.svc.…"; "" as registry: of no registry.
struct FakeHost {
  std::string host;
  std::vector<std::string> addresses;
  std::string registry = "External";
};
inline std::string MakeTable(const std::vector<FakeHost>& hosts) {
  istio::networking::nds::v1::NameTable table;
  for (const FakeHost& one : hosts) {
    auto& info = (*table.mutable_table())[one.host];
    for (const std::string& address : one.addresses) info.add_ips(address);
    info.set_registry(one.registry);
    const auto labels = Split(one.host, '.');
    if (one.registry == "Kubernetes" && labels.size() > 2) {
      info.set_shortname(std::string(labels[0]));
      info.set_namespace_(std::string(labels[1]));
    }
  }
  return table.SerializeAsString();
}

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_MESSAGE_FAKE_H_
