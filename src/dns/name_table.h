#ifndef FAIRLEAD_DNS_NAME_TABLE_H_
#define FAIRLEAD_DNS_NAME_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/strings.h"

namespace fairlead::dns {

// The workload that asks: its namespace decides about short names, its first search domain about aliases.
struct SearchPath {
  std::string pod_namespace;        // "shop"
  std::string domain;               // "shop.svc.cluster.local" or "svc.cluster.local"
  std::vector<std::string> search;  // without a dot at the end
};

// The names that the control plane knows, with their addresses: an istio.networking.nds.v1.NameTable with the
// shorter forms of Kubernetes' names, and with aliases for names that a resolver has extended by the first
// search domain. Immutable. Source: pilot-agent, for the forms of a name.
class NameTable {
 public:
  static constexpr size_t kMostBytes = 32 << 20;  // of a message

  // `message`: an encoded NameTable. Names and addresses without use are left out and counted.
  // InvalidArgument where the bytes are no such message, ResourceExhausted where it is too long.
  static absl::StatusOr<std::shared_ptr<const NameTable>> Make(std::string message,
                                                               const SearchPath& workload);

  struct Found {
    std::string_view v4, v6;  // addresses in network order, one after another
    std::string_view target;  // a name in wire form: the name asked for is an alias of it; "": it is none
  };
  // `name` in wire form and lower case. A wildcard counts for names below it, the closest one first. False:
  // the control plane does not know the name.
  bool Find(std::string_view name, Found* found) const;

  size_t size() const { return entries_.size(); }  // names, with all their forms
  size_t useless() const { return useless_; }
  const std::string& first_useless() const { return first_useless_; }  // with the reason
  // As pilot-agent's page /debug/ndsz: the message with the shorter forms.
  absl::StatusOr<std::string> ToJson() const;

 private:
  class Maker;
  struct Host {
    uint32_t v4 = 0, v4_size = 0, v6 = 0, v6_size = 0;  // places in addresses_, and bytes
  };
  struct Entry {
    uint32_t host = 0;
    uint32_t target = 0, target_size = 0;  // its place in names_; size 0: no alias
  };

  const std::string message_;
  const SearchPath workload_;
  std::string names_, addresses_;
  std::vector<Host> hosts_;
  // Keys are parts of names_.
  absl::flat_hash_map<std::string_view, Entry, StringViewHash, StringViewEqual> entries_;
  bool wildcards_ = false;
  size_t useless_ = 0;
  std::string first_useless_;

  NameTable(std::string message, const SearchPath& workload);
};

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_NAME_TABLE_H_
