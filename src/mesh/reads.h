#ifndef FAIRLEAD_MESH_READS_H_
#define FAIRLEAD_MESH_READS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "mesh/question.h"

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
  const std::vector<Read>& of_client() const { return of_client_; }
  // What was asked of the snapshot, as the questions that a view notes for what is made of this value.
  const std::vector<Question>& wider() const { return wider_; }
  // False: it depends on something that no question names.
  bool repeatable() const { return repeatable_; }

 private:
  friend class Asker;
  std::vector<Read> of_snapshot_, of_client_;
  std::vector<Question> wider_;
  bool repeatable_ = true;
  mutable std::atomic<uint64_t> held_in_{0};  // the id of the last snapshot that of_snapshot_ held in
};
using ReadsPtr = std::shared_ptr<const Reads>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_READS_H_
