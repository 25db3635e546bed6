#include "mesh/view/reads.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "mesh/index/snapshot.h"
#include "mesh/view/asker.h"

namespace fairlead::mesh {

bool Reads::Hold(const World& world) const {
  if (!repeatable_) return false;
  const auto same = [&world](const Read& read) {
    return InfoOf(read.question.part).is_same(world, read.question.key, read.answer);
  };
  if (!std::all_of(of_client_.begin(), of_client_.end(), same)) return false;
  if (held_in_.load(std::memory_order_relaxed) == world.snapshot.id) return true;
  if (!std::all_of(of_snapshot_.begin(), of_snapshot_.end(), same)) return false;
  held_in_.store(world.snapshot.id, std::memory_order_relaxed);
  return true;
}

// Sums, since the questions of equal reads come in any order.
uint64_t Reads::ClientAnswersIn(const World& world) const {
  uint64_t sum = 0;
  for (const auto& [question, _] : of_client_) {
    const uint64_t answer = InfoOf(question.part).hash(world, question.key);
    sum += absl::HashOf(question, answer);
  }
  return sum;
}

ReadsPtr Asker::Take() {
  auto reads = std::make_shared<Reads>();
  absl::flat_hash_set<Question> wider;
  for (auto& [question, answer] : noted_) {
    const bool of_client = InfoOf(question.part).of_client;
    if (!of_client) wider.insert(Wider(world_, question));
    (of_client ? reads->of_client_ : reads->of_snapshot_).push_back({question, std::move(answer)});
  }
  for (const auto& [question, _] : reads->of_client_) reads->client_questions_ += absl::HashOf(question);
  reads->client_answers_ = reads->ClientAnswersIn(world_);
  reads->wider_.assign(wider.begin(), wider.end());
  reads->repeatable_ = repeatable_;
  reads->held_in_ = world_.snapshot.id;
  return reads;
}

void Asker::Add(const Reads& reads) {
  for (const Question& question : reads.wider()) Note(question);
  // What answers for a question about the client depends on this view's client.
  for (const Reads::Read& read : reads.of_client()) Note(Wider(world_, read.question));
  repeatable_ &= reads.repeatable_;
}

const Answer& Asker::Note(const Question& question) {
  const auto [it, is_new] = noted_.try_emplace(question);
  if (is_new) it->second = InfoOf(question.part).ask(world_, question.key);
  return it->second;
}

}  // namespace fairlead::mesh
