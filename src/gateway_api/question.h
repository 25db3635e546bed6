#ifndef FAIRLEAD_GATEWAY_API_QUESTION_H_
#define FAIRLEAD_GATEWAY_API_QUESTION_H_

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "config/object.h"
#include "mesh/index/question.h"

// Questions of conversions and statuses. As in the mesh (mesh/index/question.h), a question is one row, and
// all else follows from it. The answers are not kept: a reader is made again when a change names a question
// that it asked.
//
//   struct ListenersOf {
//     // `Of` is the type that is asked; the parameters behind it are the key.
//     static ParentsPtr Answer(const Of& of, Kind kind, const Interned& ns, const Interned& name);
//     // Visits the keys of the answers that a change may alter. Rows tell of different types of changes.
//     static void Difference(const ParentsChange& change, Visit visit);
//   };
namespace fairlead::gateway_api {

using mesh::Question;
using mesh::Visit;

inline mesh::Key AsKey(const config::ObjectKey& key) { return {key.kind, key.ns, key.name}; }

// Asks questions of the rows `Table`, and notes them, misses included. Used by one thread.
template <typename Of, typename Table>
class RowAsker {
 public:
  // `of` outlives it.
  explicit RowAsker(const Of& of) : of_(of) {}

  template <typename Row, typename... Keys>
  auto Ask(const Keys&... keys) {
    static_assert(
        requires { &Row::Difference; }, "a change of the answer must be told");
    questions_.push_back({mesh::PartIn<Row>(Table()), mesh::Key(keys...)});
    return Row::Answer(of_, keys...);
  }
  template <typename Row>
  auto AskOf(const config::ObjectKey& key) {
    return Ask<Row>(key.kind, key.ns, key.name);
  }
  // What was asked so far, each once, sorted.
  std::vector<Question> TakeQuestions() {
    std::sort(questions_.begin(), questions_.end());
    questions_.erase(std::unique(questions_.begin(), questions_.end()), questions_.end());
    return std::move(questions_);
  }

 private:
  const Of& of_;
  std::vector<Question> questions_;
};

template <typename Row, typename... Change>
void TellDifference(mesh::Part part, absl::FunctionRef<void(const Question&)> visit,
                    const Change&... change) {
  const auto visit_key = [&](const mesh::Key& key) { visit({part, key}); };
  if constexpr (requires { Row::Difference(change..., visit_key); }) Row::Difference(change..., visit_key);
}
// Calls visit(question) for each question of the rows whose answer a change may alter: by the rows whose
// Difference takes such a change.
template <typename... Row, typename... Change>
void ForEachDifference(mesh::Rows<Row...> rows, absl::FunctionRef<void(const Question&)> visit,
                       const Change&... change) {
  (TellDifference<Row>(mesh::PartIn<Row>(rows), visit, change...), ...);
}

// Who asked which questions. A value: a copy costs little, shares what it has in common with the original,
// and is changed apart from it.
class Readers {
 public:
  // `questions`: all that the reader asks now, each once.
  void Set(const config::ObjectKey& reader, std::vector<Question> questions) {
    if (const auto* const before = questions_.Find(reader)) {
      if (*before == questions) return;
      for (const Question& question : *before) readers_.Erase({question, reader});
    }
    for (const Question& question : questions) readers_.Set({question, reader}, {});
    if (questions.empty()) {
      questions_.Erase(reader);
    } else {
      questions_[reader] = std::move(questions);
    }
  }
  void ForEachReader(const Question& question,
                     absl::FunctionRef<void(const config::ObjectKey&)> visit) const {
    for (auto at = readers_.LowerBound({question, config::ObjectKey{}});
         at != readers_.end() && at->first.first == question; ++at)
      visit(at->first.second);
  }

 private:
  ShardedMap<config::ObjectKey, std::vector<Question>> questions_;             // by who asked
  SortedMap<std::pair<Question, config::ObjectKey>, std::monostate> readers_;  // the same the other way round
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_QUESTION_H_
