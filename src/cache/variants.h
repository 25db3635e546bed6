#ifndef FAIRLEAD_CACHE_VARIANTS_H_
#define FAIRLEAD_CACHE_VARIANTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "base/clock.h"

namespace fairlead::cache {

// A value with what was read to make it. Both are immutable and never null once made.
template <typename Value, typename Reads>
struct Recorded {
  std::shared_ptr<const Value> value;
  std::shared_ptr<const Reads> reads;
};

// The values of one key. A variant is found by what the client answers: each variant knows a hash of its
// questions about the client and one of the answers, so numbers are compared, and reads only where they
// agree. For each set of questions the client is asked once. `Reads` has, for the worlds that Find is called
// with:
//
//   bool Hold(const World&) const;                      // whether all questions have the same answers
//   uint64_t client_questions() const;                  // a hash of the questions about the client
//   uint64_t client_answers() const;                    // a hash of their answers
//   uint64_t ClientAnswersIn(const World&) const;       // as the client of this world answers the same ones
//
// Variants that somebody else holds are kept. Of the others, the latest few for each client's answers and the
// latest kMostAlone in all are kept, until Sweep takes them. Not thread-safe.
template <typename Value, typename Reads>
class Variants {
 public:
  using Result = Recorded<Value, Reads>;

  // The variant whose reads hold in the world, or null; good until the next change. Without one, *client is a
  // hash of the client's answers to all questions that are known here: clients with different ones need
  // different variants, as far as is known.
  template <typename World>
  const Result* Find(const World& world, uint64_t* client) {
    if (latest_ < all_.size() && all_[latest_].given.reads->Hold(world)) return Use(latest_);
    absl::InlinedVector<std::pair<uint64_t, uint64_t>, 4> asked;  // questions and answers
    for (size_t i = 0; i < all_.size(); ++i) {
      const Reads& reads = *all_[i].given.reads;
      auto it = std::ranges::find(asked, all_[i].questions, &std::pair<uint64_t, uint64_t>::first);
      if (it == asked.end()) {
        asked.emplace_back(all_[i].questions, reads.ClientAnswersIn(world));
        it = asked.end() - 1;
      }
      if (it->second == all_[i].answers && i != latest_ && reads.Hold(world)) return Use(i);
    }
    *client = 0;
    for (const auto& [questions, answers] : asked) *client += Mixed(questions, answers);
    return nullptr;
  }

  // The value that was given out last as it was made, of those for such a client if there are any; or null.
  std::shared_ptr<const Value> Like(uint64_t client) const {
    const Variant* best = nullptr;
    for (const Variant& one : all_) {
      const auto rank = [client](const Variant& v) {
        return std::pair(Mixed(v.questions, v.answers) == client, v.turn);
      };
      if (best == nullptr || rank(one) > rank(*best)) best = &one;
    }
    return best == nullptr ? nullptr : best->as_made;
  }

  const Result& Add(Result made) {
    if (all_.size() >= trim_at_) Trim();
    Variant& added = all_.emplace_back();
    added.questions = made.reads->client_questions();
    added.answers = made.reads->client_answers();
    added.as_made = made.value;
    added.given = {WithOwnCount(std::move(made.value)), std::move(made.reads)};
    return *Use(all_.size() - 1);
  }

  // Forgets what the cache alone holds and nobody asked for, during `idle` or since the sweep before.
  void Sweep(Clock::time_point now, Clock::duration idle, bool crowded) {
    std::erase_if(all_, [&](Variant& variant) {
      if (variant.used) variant.last_used = now;
      const bool unused = !std::exchange(variant.used, false);
      return unused && variant.IsAlone() && (crowded || now - variant.last_used >= idle);
    });
    if (all_.empty()) all_.shrink_to_fit();
  }

  size_t size() const { return all_.size(); }

 private:
  // A mesh that goes back to where it was finds its earlier values.
  static constexpr size_t kAloneOfAClient = 4;
  static constexpr size_t kMostAlone = 64;
  struct Variant {
    Result given;                          // its value has a count of its own
    std::shared_ptr<const Value> as_made;  // the same value
    uint64_t questions = 0, answers = 0;   // about the client
    uint32_t turn = 0;                     // when it was given out last
    bool used = true;                      // since the last sweep
    Clock::time_point last_used = {};

    bool IsAlone() const { return given.value.use_count() <= 1; }
  };

  static uint64_t Mixed(uint64_t questions, uint64_t answers) {
    return (questions ^ (answers * 0x9e3779b97f4a7c15)) * 0xd6e8feb86659fd93;
  }

  const Result* Use(size_t index) {
    latest_ = index;
    all_[index].used = true;
    all_[index].turn = ++turn_;
    return &all_[index].given;
  }

  // Forgets the surplus of what the cache alone holds, the earliest first.
  void Trim() {
    if (std::ranges::count_if(all_, &Variant::IsAlone) > ptrdiff_t{kAloneOfAClient}) {
      std::ranges::sort(all_, std::greater(), &Variant::turn);
      latest_ = 0;
      size_t alone = 0;
      absl::flat_hash_map<uint64_t, size_t> alone_of_client;
      std::erase_if(all_, [&](const Variant& one) {
        return one.IsAlone() && (++alone_of_client[Mixed(one.questions, one.answers)] > kAloneOfAClient ||
                                 ++alone > kMostAlone);
      });
    }
    // With many variants the cost is spread over as many additions.
    trim_at_ = all_.size() < kMostAlone ? kAloneOfAClient : 2 * all_.size();
  }

  static std::shared_ptr<const Value> WithOwnCount(std::shared_ptr<const Value> value) {
    const auto holder = std::make_shared<const std::shared_ptr<const Value>>(std::move(value));
    return {holder, holder->get()};
  }

  std::vector<Variant> all_;
  size_t latest_ = 0;  // of all_, the one that was given out last; past the end: none is known
  size_t trim_at_ = kAloneOfAClient;
  uint32_t turn_ = 0;
};

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_VARIANTS_H_
