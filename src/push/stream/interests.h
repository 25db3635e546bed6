#ifndef FAIRLEAD_PUSH_STREAM_INTERESTS_H_
#define FAIRLEAD_PUSH_STREAM_INTERESTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "mesh/index/snapshot.h"
#include "mesh/view/reads.h"

namespace fairlead::push {

class Stream;
using StreamPtr = std::shared_ptr<Stream>;

// Reads that a number of publications touched: what is made from others is as it was.
class TouchedReads {
 public:
  // Addresses: of reads that may be gone by now.
  using Set = absl::flat_hash_set<const mesh::Reads*>;
  explicit TouchedReads(std::vector<std::shared_ptr<const Set>> sets) : sets_(std::move(sets)) {}
  bool Contains(const mesh::ReadsPtr& reads) const {
    return std::any_of(sets_.begin(), sets_.end(),
                       [&](const auto& set) { return set->contains(reads.get()); });
  }
  bool ContainsAnyOf(const std::vector<mesh::ReadsPtr>& all) const {
    return std::any_of(all.begin(), all.end(),
                       [this](const mesh::ReadsPtr& reads) { return Contains(reads); });
  }

 private:
  std::vector<std::shared_ptr<const Set>> sets_;
};

// Which streams a publication concerns: those that were sent something, or are somebody, by a part of the
// snapshot that is now another. Streams share their reads, which are looked up by the parts that they name;
// so a change costs whom it concerns, however many there are. Thread-safe.
class Interests {
 public:
  using AllReads = std::vector<const mesh::ReadsPtr*>;  // in any order, none of them null

  // What the stream has was made from these reads, and holds in the publication of that number. Replaces what
  // was said of it before. False: it comes too late for a later publication, of which TouchedSince knows
  // nothing for this stream.
  bool Set(const StreamPtr& stream, AllReads reads, uint64_t number);
  void Forget(const StreamPtr& stream);
  // The streams whose reads do not all hold any more, and perhaps some others. Nothing: all of them.
  // `number`: of the publication of `after`. To be called in the order of the numbers.
  std::optional<std::vector<StreamPtr>> ConcernedBy(const mesh::MeshSnapshot& before,
                                                    const mesh::MeshSnapshot& after, uint64_t number);
  // The same where a publication is known to concern everybody.
  void ConcernAll(uint64_t number);
  // What publications after `from`, up to `to`, touched of the reads that were set by `from`. Nothing:
  // perhaps all of them.
  std::optional<TouchedReads> TouchedSince(uint64_t from, uint64_t to) const;
  // How many different reads there are.
  size_t size() const;

 private:
  struct Readers {
    mesh::ReadsPtr reads;
    absl::flat_hash_set<StreamPtr> streams;
  };
  void Add(const StreamPtr& stream, const mesh::ReadsPtr& reads);
  void Remove(const StreamPtr& stream, const mesh::ReadsPtr& reads);
  void NoteTouched(uint64_t number, std::shared_ptr<const TouchedReads::Set> set);

  mutable std::mutex mutex_;                                               // of what follows
  absl::flat_hash_map<StreamPtr, std::vector<mesh::ReadsPtr>> of_stream_;  // sorted by address, unique
  absl::flat_hash_map<const mesh::Reads*, std::unique_ptr<Readers>> readers_;
  absl::flat_hash_map<mesh::Question, absl::flat_hash_set<const Readers*>> by_question_;
  absl::flat_hash_set<const Readers*> unrepeatable_readers_;  // whose reads name not all that they depend on
  uint64_t compared_ = 0;  // the number of the last publication that was compared
  std::deque<std::shared_ptr<const TouchedReads::Set>> touched_;  // of the last ones; null: all
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_INTERESTS_H_
