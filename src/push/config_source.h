#ifndef FAIRLEAD_PUSH_CONFIG_SOURCE_H_
#define FAIRLEAD_PUSH_CONFIG_SOURCE_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "model/config_source.h"
#include "xds/resource_set.h"

namespace envoy::config::core::v3 {
class ConfigSource;
}

namespace fairlead::push {

// Fills in where a proxy gets the resource of this type and name.
using SourceOf =
    std::function<void(xds::TypeId type, std::string_view name, envoy::config::core::v3::ConfigSource* out)>;

// Resources refer to others "over ADS": clusters to their endpoints, listeners to routes. A proxy without an
// aggregated stream needs another source there, that of its own transport. Resources that did not change
// since the last call keep their pointers. Not thread-safe.
class SourceRewriter {
 public:
  explicit SourceRewriter(SourceOf source_of) : source_of_(std::move(source_of)) {}
  xds::ResourceSetPtr Rewrite(const xds::ResourceSetPtr& resources);

 private:
  using Known = absl::flat_hash_map<xds::ResourcePtr, xds::ResourcePtr>;
  xds::ResourcePtr Rewritten(const xds::ResourcePtr& resource) const;

  const SourceOf source_of_;
  Known known_;  // of the last two calls, by what they were made from
  Known before_;
};

// The source of a proxy that asks over streams of one type, or by REST, through the cluster of its bootstrap
// that leads to the control plane.
using Transport = model::ConfigSource::Kind;
SourceOf SourceThrough(std::string_view cluster, Transport transport);

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_CONFIG_SOURCE_H_
