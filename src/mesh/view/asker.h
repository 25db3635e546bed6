#ifndef FAIRLEAD_MESH_VIEW_ASKER_H_
#define FAIRLEAD_MESH_VIEW_ASKER_H_

#include "absl/container/flat_hash_map.h"
#include "mesh/view/question_table.h"
#include "mesh/view/reads.h"

namespace fairlead::mesh {

// Asks questions in one world, and notes them with their answers, misses included. Hands out the answers and
// nothing else of the world. Used by one thread; what is handed out by reference is good until Take.
class Asker {
 public:
  explicit Asker(const World& world) : world_(world) {}
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  // The answer of a row (see question.h) for a key: a part of the mesh as a shared_ptr, a text as a string,
  // other values by reference.
  template <typename Row, typename... Keys>
  decltype(auto) Ask(const Keys&... keys) {
    return Signature<Row>::Kept::HandOut(Note(QuestionOf<Row>(keys...)));
  }
  // The same for one who asks for many of what a wider question decides about: that one is noted instead.
  template <typename Row, typename... Keys>
  auto AskWidely(const Keys&... keys) {
    const Question question = QuestionOf<Row>(keys...);
    Note(Wider(world_, question));
    return AnswerOf<Row>(world_, question.key);
  }
  // As Ask; but what follows from a wider question that was asked before is not noted besides.
  template <typename Row, typename... Keys>
  auto AskUnlessWider(const Keys&... keys) {
    const Question question = QuestionOf<Row>(keys...);
    const Question wider = Wider(world_, question);
    if (wider == question || !noted_.contains(wider)) Note(question);
    return AnswerOf<Row>(world_, question.key);
  }

  // Notes what another value was made from.
  void Add(const Reads& reads);
  // The value was made from something that no question names: it never holds again.
  void MarkUnrepeatable() { repeatable_ = false; }
  // What was noted so far. The asker must not be used any more.
  ReadsPtr Take();

 protected:
  // As Ask, of a part of the mesh; null where there is none.
  template <typename Row, typename... Keys>
  auto Peek(const Keys&... keys) {
    using Ptr = decltype(Ask<Row>(keys...));
    return static_cast<typename Ptr::element_type*>(Note(QuestionOf<Row>(keys...)).part.get());
  }
  template <typename List>
  static const List& OrEmpty(const List* list) {
    static const auto* const none = new List();
    return list == nullptr ? *none : *list;
  }
  const World& world() const { return world_; }

 private:
  const Answer& Note(const Question& question);  // good until the next one

  const World world_;
  absl::flat_hash_map<Question, Answer> noted_;
  bool repeatable_ = true;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_ASKER_H_
