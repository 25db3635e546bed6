#ifndef FAIRLEAD_MESH_INDEX_HOST_MAP_H_
#define FAIRLEAD_MESH_INDEX_HOST_MAP_H_

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace fairlead::mesh {

// Values by host name, where the name may be a wildcard ("*", "*.example.com"), with lookup of the most
// specific one. A value type; reading from several threads is safe.
template <typename Value>
class HostMap {
 public:
  // The value of exactly this host, made if it is new.
  Value& operator[](std::string_view host) {
    if (host.empty() || host.front() != '*') return exact_[host];
    const std::string_view suffix = host.substr(1);
    AddLength(suffix.size());
    return wildcard_[suffix];
  }

  // The value whose host covers `name` best: the name itself, else the longest wildcard that ends it. `name`
  // may be a wildcard, which only wildcards cover. Null where nothing does. Source: Istio's
  // MostSpecificHostMatch.
  const Value* FindMostSpecific(std::string_view name) const {
    if (!name.empty() && name.front() == '*') {
      name.remove_prefix(1);
    } else if (auto it = exact_.find(name); it != exact_.end()) {
      return &it->second;
    }
    for (size_t length : lengths_) {
      if (length > name.size()) continue;
      auto it = wildcard_.find(name.substr(name.size() - length));
      if (it != wildcard_.end()) return &it->second;
    }
    return nullptr;
  }

  bool empty() const { return exact_.empty() && wildcard_.empty(); }

  // Calls function(host, value) for all, in no particular order.
  template <typename Function>
  void ForEach(Function&& function) const {
    for (const auto& [host, value] : exact_) function(std::string_view(host), value);
    for (const auto& [suffix, value] : wildcard_) function(std::string_view(StrCat('*', suffix)), value);
  }

 private:
  void AddLength(size_t length) {
    auto place = std::lower_bound(lengths_.begin(), lengths_.end(), length, std::greater<>());
    if (place == lengths_.end() || *place != length) lengths_.insert(place, length);
  }

  StringMap<Value> exact_;
  StringMap<Value> wildcard_;    // by what follows the asterisk
  std::vector<size_t> lengths_;  // of the wildcards' suffixes, distinct, longest first
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_HOST_MAP_H_
