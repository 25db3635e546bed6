#ifndef FAIRLEAD_SOURCE_OWNERSHIP_H_
#define FAIRLEAD_SOURCE_OWNERSHIP_H_

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "config/diagnostic.h"
#include "config/object.h"

namespace fairlead::source {

// Which objects each source has. An object belongs to the source that brought it: only that one changes or
// deletes it. Where several have one of the same kind, namespace, name and cluster, the first of them (in the
// order of AddSource) counts in the mesh; when it lets go of its own, the next one's takes the place. Pure;
// not thread-safe.
class Ownership {
 public:
  // The number of the source for the other calls.
  size_t AddSource(std::string name);
  // Whether a source's batch brings nothing but other endpoints of ServiceEntries that the source has. To be
  // asked before Change.
  bool ChangesEndpointsAlone(size_t source, std::span<const config::ObjectChange> batch) const;
  // What a source's batch changes in the mesh.
  std::vector<config::ObjectChange> Change(size_t source, std::vector<config::ObjectChange> batch);
  // What it changes that these are all the objects of a kind that a source has. Those that say the same as
  // before are no change.
  std::vector<config::ObjectChange> Replace(size_t source, config::Kind kind,
                                            const std::vector<config::ConfigPtr>& objects);

  // The objects that do not count because another source has one of the same name.
  std::vector<config::Diagnostic> Diagnostics() const;
  // Rises whenever Diagnostics may say something else.
  size_t revision() const { return revision_; }

 private:
  using Objects = absl::flat_hash_map<config::ObjectKey, config::ConfigPtr>;
  struct Source {
    std::string name;
    std::map<config::Kind, Objects> objects;

    const config::ConfigPtr* Find(const config::ObjectKey& key) const;  // null: it has none
  };
  // The sources that have an object of the name, in their order.
  std::vector<const Source*> HoldersOf(const config::ObjectKey& key) const;
  void NoteHolders(const config::ObjectKey& key, size_t holders);

  std::vector<Source> sources_;
  std::set<config::ObjectKey> contested_;  // what several sources have
  size_t revision_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_OWNERSHIP_H_
