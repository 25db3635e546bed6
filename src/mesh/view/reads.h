#ifndef FAIRLEAD_MESH_VIEW_READS_H_
#define FAIRLEAD_MESH_VIEW_READS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "mesh/index/question.h"

namespace fairlead::mesh {

// Recorded reads: what one value was made from, as questions with their answers. The value holds wherever its
// questions still have these answers, in whatever snapshot and for whatever client. Immutable, thread-safe.
class Reads {
 public:
  struct Read {
    Question question;
    Answer answer;
  };

  // Whether all questions have the same answers in `world`.
  bool Hold(const World& world) const;
  // Hashes of the questions about the client, and of their answers: see cache::Variants.
  uint64_t client_questions() const { return client_questions_; }
  uint64_t client_answers() const { return client_answers_; }
  // The same as client_answers if the client of `world` answers these questions alike.
  uint64_t ClientAnswersIn(const World& world) const;
  const std::vector<Read>& of_client() const { return of_client_; }
  // What was asked of the snapshot, as the questions that a view notes for what is made of this value.
  const std::vector<Question>& wider() const { return wider_; }
  // False: it depends on something that no question names.
  bool repeatable() const { return repeatable_; }

 private:
  friend class Asker;
  std::vector<Read> of_snapshot_, of_client_;
  std::vector<Question> wider_;
  uint64_t client_questions_ = 0, client_answers_ = 0;
  bool repeatable_ = true;
  mutable std::atomic<uint64_t> held_in_{0};  // the id of the last snapshot that of_snapshot_ held in
};
using ReadsPtr = std::shared_ptr<const Reads>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_READS_H_
