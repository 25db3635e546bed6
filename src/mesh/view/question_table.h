#ifndef FAIRLEAD_MESH_VIEW_QUESTION_TABLE_H_
#define FAIRLEAD_MESH_VIEW_QUESTION_TABLE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "mesh/index/question.h"
#include "mesh/view/client_questions.h"
#include "mesh/view/object_questions.h"
#include "mesh/view/scope_questions.h"
#include "mesh/view/service_questions.h"
#include "mesh/view/settings_questions.h"

// All questions, and what follows from their rows: how they are asked, compared, and told of.
namespace fairlead::mesh {

template <typename... A, typename... B>
Rows<A..., B...> operator+(Rows<A...>, Rows<B...>);
using AllRows = decltype(questions::OfSettings() + questions::OfServices() + questions::OfObjects() +
                         questions::OfScope() + questions::OfClient());

template <typename Row>
inline constexpr Part kPartOf = PartIn<Row>(AllRows());

template <typename Row, typename... Keys>
Question QuestionOf(const Keys&... keys) {
  return {kPartOf<Row>, Key(keys...)};
}

// The answer of a row in a world. REQUIRES: world.client where the question is about a client.
template <typename Row>
decltype(auto) AnswerOf(const World& world, const Key& key) {
  const auto answer = [&](const auto&... keys) -> decltype(auto) {
    if constexpr (Signature<Row>::kOfClient) {
      return Row::Answer(*world.client, keys...);
    } else {
      return Row::Answer(world.snapshot, keys...);
    }
  };
  return CallWithKey<Row>(key, answer);
}

// A row as data.
struct RowInfo {
  std::string_view name;
  bool of_client, concerns_all;
  Answer (*ask)(const World&, const Key&);
  bool (*is_same)(const World&, const Key&, const Answer&);
  uint64_t (*hash)(const World&, const Key&);  // of the answer
  // Null: there is none. The client is asked for where the question is about it.
  std::optional<Question> (*wider)(const World&, const Key&) = nullptr;
  // Null: of a client, or there is a wider one.
  void (*difference)(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) = nullptr;
};
const RowInfo& InfoOf(Part part);
size_t PartCount();

// A question whose answer decides about this one's, or the question itself: what reads many small parts of
// one part is told when any of them changes. Of a question about the snapshot it is the same in every world.
Question Wider(const World& world, const Question& question);

// The question by which ForEachDifference tells of a change of the answer; nothing where the question is
// about a client, or concerns all.
std::optional<Question> Watched(const Question& question);

// Calls visit(question) once for each question about the snapshot itself whose answer differs between two
// snapshots, but for those that have a wider one. `before` may be null: then for all that `after` has. Costs
// what differs: what the two share is not looked into.
void ForEachDifference(const MeshSnapshot* before, const MeshSnapshot& after,
                       absl::FunctionRef<void(const Question&)> visit);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_QUESTION_TABLE_H_
