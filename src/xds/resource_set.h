#ifndef FAIRLEAD_XDS_RESOURCE_SET_H_
#define FAIRLEAD_XDS_RESOURCE_SET_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/strings.h"
#include "cache/resource.h"
#include "xds/body.h"
#include "xds/name_set.h"
#include "xds/types.h"

namespace fairlead::xds {

using cache::Reference;

class ResourceList;
using ResourceListPtr = std::shared_ptr<const ResourceList>;

// The missing and the superfluous resources of a client with one set, compared with another set; by content
// hash. In the order of the new set where a list is wholly new, else in an order of no meaning.
struct Difference {
  std::vector<ResourcePtr> changed;
  std::vector<ResourcePtr> replaced;  // the changed ones as they were, those that were there
  std::vector<ResourcePtr> removed;   // as they were
  bool empty() const { return changed.empty() && removed.empty(); }
};
using DifferencePtr = std::shared_ptr<const Difference>;

// An immutable list of resources of one type with unique names, shared by all streams that have the same.
// Lists with the same resources in the same order are one object while any of them lives. Keeps its own
// encoding as the body of a response, from the second request on, for as long as it is in use (see
// DropIdleBodies). A set of one client is sent once. Thread-safe.
class ResourceList {
 public:
  static ResourceListPtr Of(std::vector<ResourcePtr> resources);
  static const ResourceListPtr& Empty();
  ~ResourceList();

  const std::vector<ResourcePtr>& resources() const { return resources_; }
  // The same, sorted by the address of the interned name: an order for merging, not for output.
  const std::vector<ResourcePtr>& by_name() const { return by_name_; }
  // The hash of names and contents, whatever the order; stable over processes.
  const Hash128& hash() const { return hash_; }
  size_t size() const { return resources_.size(); }

  // The references of the resources, sorted, unique.
  const std::vector<Reference>& References() const;

  // The difference to an earlier list of the same resources. Remembered, as many clients go from the one to
  // the other.
  DifferencePtr Since(const ResourceListPtr& before) const;

  // All resources; see MakeBody.
  std::shared_ptr<const Pieces> Body(Framing framing) const;
  // Forgets the bodies and differences of all lists that were not asked for since the call before. To be
  // called every second or so. Returns how many bytes that were.
  static size_t DropIdleBodies();

 private:
  explicit ResourceList(std::vector<ResourcePtr> resources);

  std::vector<ResourcePtr> resources_;
  std::vector<ResourcePtr> by_name_;
  Hash128 hash_;
  mutable std::mutex mutex_;
  mutable std::optional<std::vector<Reference>> references_;  // guarded by mutex_ until it is set
  mutable KeptBody body_;                                     // guarded by mutex_
  // The last differences that were asked for; guarded by mutex_.
  mutable std::vector<std::pair<std::weak_ptr<const ResourceList>, DifferencePtr>> since_;
};

class ResourceSet;
using ResourceSetPtr = std::shared_ptr<const ResourceSet>;

// All resources of one type that one proxy should have: a few lists, of which most proxies share the large
// ones. Names are unique over all lists. Sets of the same lists are one object while any of them lives.
// Immutable, thread-safe.
class ResourceSet {
 public:
  static ResourceSetPtr Of(std::vector<ResourceListPtr> parts);
  static ResourceSetPtr Of(std::vector<ResourcePtr> resources);
  // The latest set with this hash, as long as somebody has it; else null.
  static ResourceSetPtr WithHash(const Hash128& hash);
  static const ResourceSetPtr& Empty();

  const std::vector<ResourceListPtr>& parts() const { return parts_; }
  size_t size() const { return size_; }
  // Stable over processes and replicas: the version of the whole.
  const Hash128& hash() const { return hash_; }
  // The names of the resources; made at the first request for them.
  const NameSetPtr& Names() const;
  ResourcePtr Find(std::string_view name) const;  // null where there is none
  // Whether one of the resources refers to this one.
  bool RefersTo(const Reference& reference) const;

 private:
  explicit ResourceSet(std::vector<ResourceListPtr> parts);

  std::vector<ResourceListPtr> parts_;
  size_t size_ = 0;
  Hash128 hash_;
  mutable std::mutex mutex_;
  mutable NameSetPtr names_;  // guarded by mutex_ until it is set
};

// One resource's share of the hash of a set.
Hash128 ShareOf(std::string_view name, const Hash128& hash);

// The difference for a client with `before` that should have `after`. Never null.
DifferencePtr Compare(const ResourceSet& before, const ResourceSet& after);

// `set` without the resources of some names.
ResourceSetPtr Without(const ResourceSet& set, const StringSet& names);

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_RESOURCE_SET_H_
