#ifndef FAIRLEAD_PUSH_STREAM_CONFIG_SOURCE_H_
#define FAIRLEAD_PUSH_STREAM_CONFIG_SOURCE_H_

#include <string>
#include <string_view>
#include <utility>

#include "cache/byte_cache.h"
#include "model/config_source.h"
#include "xds/resource_set.h"

namespace fairlead::push {

// The file of a folder of resources that has what a type names so; without a name the type's one file.
// "/out/node/eds/outbound%7C80%7C%7Ca.json"
std::string ResourcePath(std::string_view folder, xds::TypeId type, std::string_view name);
// A resource's or a node's name as a file's: letters, digits and ".-_~" stay, other bytes become "%7C"; a
// name that would be too long or hidden is cut or escaped, and stays unique.
std::string FileNameOf(std::string_view name);

// Generators refer to other resources "over ADS": clusters to their endpoints, listeners to routes. For a
// proxy with another source this is the last stage of what it is sent: the same resource, with its source in
// place. One copy is made for all proxies of one source, and stays the same object as long as its original
// does. Thread-safe.
class ConfigSources {
 public:
  // `list` itself where the source is ADS or nothing in it refers to anything.
  xds::ResourceListPtr Apply(const model::ConfigSource& source, const xds::ResourceListPtr& list);
  // Forgets what was not used lately. To be called every few seconds.
  void Sweep(Clock::time_point now) { made_.Sweep(now); }

 private:
  struct Key {
    xds::ResourcePtr resource;
    model::ConfigSource source;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.resource, key.source);
    }
  };
  static xds::ResourcePtr Make(const Key& key);

  cache::ByteCache<Key> made_;  // null: the resource as it is
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_CONFIG_SOURCE_H_
