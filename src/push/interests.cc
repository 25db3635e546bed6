#include "push/interests.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "mesh/snapshot_diff.h"

namespace fairlead::push {
namespace {

using mesh::Part;
using mesh::Question;

// Parts that nearly everything is made from: who reads them is not noted.
bool ConcernsAll(Part part) {
  return part == Part::kSettings || part == Part::kSettingsPart || part == Part::kNetworks ||
         part == Part::kInternalRanges;
}

// The question by which ForEachDifference names a change of the part; nothing where it is about the client,
// or concerns all.
std::optional<Question> AsDifference(const Question& question) {
  if (question.part >= mesh::kFirstOfClient || ConcernsAll(question.part)) return std::nullopt;
  if (question.part == Part::kEndpointTraits) return Question{Part::kEndpoints, {}, question.a};
  if (question.part == Part::kExternalTargets) return Question{Part::kExternalTargets};
  return question;
}

template <typename Visit>
void ForEachWatched(const mesh::Reads& reads, Visit visit) {
  for (const Question& question : reads.wider()) {
    if (const auto watched = AsDifference(question)) visit(*watched);
  }
}

}  // namespace

// REQUIRES: mutex_ is held.
void Interests::Add(const StreamPtr& stream, const mesh::ReadsPtr& reads) {
  std::unique_ptr<Readers>& of_reads = readers_[reads.get()];
  if (of_reads == nullptr) {
    of_reads = std::make_unique<Readers>();
    of_reads->reads = reads;
    if (!reads->repeatable()) of_anything_.insert(of_reads.get());
    ForEachWatched(*reads, [&](const Question& question) { by_question_[question].insert(of_reads.get()); });
  }
  of_reads->streams.insert(stream);
}

// REQUIRES: mutex_ is held.
void Interests::Remove(const StreamPtr& stream, const mesh::ReadsPtr& reads) {
  const auto found = readers_.find(reads.get());
  Readers& of_reads = *found->second;
  of_reads.streams.erase(stream);
  if (!of_reads.streams.empty()) return;
  ForEachWatched(*reads, [&](const Question& question) {
    const auto at = by_question_.find(question);
    if (at == by_question_.end()) return;
    at->second.erase(&of_reads);
    if (at->second.empty()) by_question_.erase(at);
  });
  of_anything_.erase(&of_reads);
  readers_.erase(found);
}

void Interests::Set(const StreamPtr& stream, AllReads reads) {
  std::lock_guard lock(mutex_);
  AllReads& known = of_stream_[stream];
  if (known == reads) return;
  AllReads fresh, gone;
  std::set_difference(reads.begin(), reads.end(), known.begin(), known.end(), std::back_inserter(fresh));
  std::set_difference(known.begin(), known.end(), reads.begin(), reads.end(), std::back_inserter(gone));
  for (const mesh::ReadsPtr& one : fresh) Add(stream, one);
  for (const mesh::ReadsPtr& one : gone) Remove(stream, one);
  known = std::move(reads);
}

void Interests::Forget(const StreamPtr& stream) {
  std::lock_guard lock(mutex_);
  const auto known = of_stream_.find(stream);
  if (known == of_stream_.end()) return;
  for (const mesh::ReadsPtr& one : known->second) Remove(stream, one);
  of_stream_.erase(known);
}

std::optional<std::vector<StreamPtr>> Interests::ConcernedBy(const mesh::MeshSnapshot& before,
                                                             const mesh::MeshSnapshot& after) const {
  absl::flat_hash_set<StreamPtr> concerned;
  bool all = false;
  std::lock_guard lock(mutex_);
  mesh::ForEachDifference(&before, after, [&](const Question& question) {
    all |= ConcernsAll(question.part);
    const auto at = by_question_.find(question);
    if (all || at == by_question_.end()) return;
    for (const Readers* readers : at->second)
      concerned.insert(readers->streams.begin(), readers->streams.end());
  });
  if (all) return std::nullopt;
  for (const Readers* readers : of_anything_)
    concerned.insert(readers->streams.begin(), readers->streams.end());
  return std::vector<StreamPtr>(concerned.begin(), concerned.end());
}

size_t Interests::size() const {
  std::lock_guard lock(mutex_);
  return readers_.size();
}

}  // namespace fairlead::push
