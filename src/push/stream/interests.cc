#include "push/stream/interests.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "mesh/view/question_table.h"

namespace fairlead::push {
namespace {

// So far back a stream may be for its push to be told what was touched.
constexpr size_t kRemembered = 8;

using mesh::Question;

template <typename Visit>
void ForEachWatched(const mesh::Reads& reads, Visit visit) {
  for (const Question& question : reads.wider()) {
    if (const auto watched = mesh::Watched(question)) visit(*watched);
  }
}

}  // namespace

// REQUIRES: mutex_ is held.
void Interests::Add(const StreamPtr& stream, const mesh::ReadsPtr& reads) {
  std::unique_ptr<Readers>& of_reads = readers_[reads.get()];
  if (of_reads == nullptr) {
    of_reads = std::make_unique<Readers>();
    of_reads->reads = reads;
    if (!reads->repeatable()) unrepeatable_readers_.insert(of_reads.get());
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
  unrepeatable_readers_.erase(&of_reads);
  readers_.erase(found);
}

bool Interests::Set(const StreamPtr& stream, AllReads reads, uint64_t number) {
  const auto by_address = [](const mesh::ReadsPtr* a, const mesh::ReadsPtr* b) { return *a < *b; };
  std::sort(reads.begin(), reads.end(), by_address);
  std::lock_guard lock(mutex_);
  std::vector<mesh::ReadsPtr>& known = of_stream_[stream];
  std::vector<mesh::ReadsPtr> now;
  now.reserve(reads.size());
  auto old = known.begin();
  const auto pass_until = [&](const mesh::ReadsPtr* next) {
    for (; old != known.end() && (next == nullptr || *old < *next); ++old) Remove(stream, *old);
  };
  for (const mesh::ReadsPtr* one : reads) {
    if (!now.empty() && now.back() == *one) continue;
    pass_until(one);
    if (old != known.end() && *old == *one) {
      now.push_back(std::move(*old++));
    } else {
      Add(stream, *one);
      now.push_back(*one);
    }
  }
  pass_until(nullptr);
  known = std::move(now);
  return compared_ <= number;
}

void Interests::Forget(const StreamPtr& stream) {
  std::lock_guard lock(mutex_);
  const auto known = of_stream_.find(stream);
  if (known == of_stream_.end()) return;
  for (const mesh::ReadsPtr& one : known->second) Remove(stream, one);
  of_stream_.erase(known);
}

std::optional<std::vector<StreamPtr>> Interests::ConcernedBy(const mesh::MeshSnapshot& before,
                                                             const mesh::MeshSnapshot& after,
                                                             uint64_t number) {
  absl::flat_hash_set<const Readers*> concerned;
  bool all = false;
  std::lock_guard lock(mutex_);
  mesh::ForEachDifference(&before, after, [&](const Question& question) {
    all |= mesh::InfoOf(question.part).concerns_all;
    const auto at = by_question_.find(question);
    if (all || at == by_question_.end()) return;
    concerned.insert(at->second.begin(), at->second.end());
  });
  NoteTouched(number, nullptr);
  if (all) return std::nullopt;
  concerned.insert(unrepeatable_readers_.begin(), unrepeatable_readers_.end());
  auto touched = std::make_shared<TouchedReads::Set>();
  absl::flat_hash_set<StreamPtr> streams;
  for (const Readers* readers : concerned) {
    touched->insert(readers->reads.get());
    streams.insert(readers->streams.begin(), readers->streams.end());
  }
  touched_.back() = std::move(touched);
  return std::vector<StreamPtr>(streams.begin(), streams.end());
}

void Interests::ConcernAll(uint64_t number) {
  std::lock_guard lock(mutex_);
  NoteTouched(number, nullptr);
}

// REQUIRES: mutex_ is held.
void Interests::NoteTouched(uint64_t number, std::shared_ptr<const TouchedReads::Set> set) {
  compared_ = number;
  touched_.push_back(std::move(set));
  if (touched_.size() > kRemembered) touched_.pop_front();
}

std::optional<TouchedReads> Interests::TouchedSince(uint64_t from, uint64_t to) const {
  std::lock_guard lock(mutex_);
  if (to > compared_ || compared_ - from > touched_.size()) return std::nullopt;
  std::vector<std::shared_ptr<const TouchedReads::Set>> sets(
      touched_.end() - static_cast<ptrdiff_t>(compared_ - from),
      touched_.end() - static_cast<ptrdiff_t>(compared_ - to));
  if (std::find(sets.begin(), sets.end(), nullptr) != sets.end()) return std::nullopt;
  return TouchedReads(std::move(sets));
}

size_t Interests::size() const {
  std::lock_guard lock(mutex_);
  return readers_.size();
}

}  // namespace fairlead::push
