#ifndef FAIRLEAD_PUSH_INTERESTS_H_
#define FAIRLEAD_PUSH_INTERESTS_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "mesh/reads.h"
#include "mesh/snapshot.h"

namespace fairlead::push {

class Stream;
using StreamPtr = std::shared_ptr<Stream>;

// Which streams a publication concerns: those that were sent something, or are somebody, by a part of the
// snapshot that is now another. Streams share their reads, which are looked up by the parts that they name;
// so a change costs whom it concerns, however many there are. Thread-safe.
class Interests {
 public:
  using AllReads = std::vector<mesh::ReadsPtr>;

  // What the stream has was made from these reads, sorted and unique. Replaces what was said of it before.
  void Set(const StreamPtr& stream, AllReads reads);
  void Forget(const StreamPtr& stream);
  // The streams whose reads do not all hold any more, and perhaps some others. Nothing: all of them.
  std::optional<std::vector<StreamPtr>> ConcernedBy(const mesh::MeshSnapshot& before,
                                                    const mesh::MeshSnapshot& after) const;
  // How many different reads there are.
  size_t size() const;

 private:
  struct Readers {
    mesh::ReadsPtr reads;
    absl::flat_hash_set<StreamPtr> streams;
  };
  void Add(const StreamPtr& stream, const mesh::ReadsPtr& reads);
  void Remove(const StreamPtr& stream, const mesh::ReadsPtr& reads);

  mutable std::mutex mutex_;  // of what follows
  absl::flat_hash_map<StreamPtr, AllReads> of_stream_;
  absl::flat_hash_map<const mesh::Reads*, std::unique_ptr<Readers>> readers_;
  absl::flat_hash_map<mesh::Question, absl::flat_hash_set<const Readers*>> by_question_;
  absl::flat_hash_set<const Readers*> of_anything_;  // whose reads name not all that they depend on
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_INTERESTS_H_
