#include <algorithm>

#include "mesh/view/question_table.h"
#include "push/stream/pusher.h"
#include "push/stream/stream.h"

// Secrets that wait until an API server has said whether the client may have them, as istiod asks it before
// it answers. Other types go on.
namespace fairlead::push {
namespace {

// Whether somebody still has to say what the client may have of what was made.
bool IsUnknown(const std::vector<mesh::ReadsPtr>& all, const mesh::MeshSnapshot& snapshot) {
  using Row = mesh::questions::SecretAccess;
  const auto unknown = [&snapshot](const mesh::Question& question) {
    return question.part == mesh::kPartOf<Row> &&
           mesh::AnswerOf<Row>({snapshot}, question.key) == model::SecretAccess::kUnknown;
  };
  return std::any_of(all.begin(), all.end(), [&unknown](const mesh::ReadsPtr& reads) {
    return reads != nullptr && std::any_of(reads->wider().begin(), reads->wider().end(), unknown);
  });
}

}  // namespace

// Whether the client is to be answered later. A publication has the verdict; without one the client waits for
// a bounded time, once. REQUIRES: work_mutex_ held.
bool Stream::AwaitsReview(const LastResources& made) {
  const mesh::MeshSnapshot& snapshot = *position_.publication()->snapshot;
  const bool unknown = IsUnknown(made.reads, snapshot) || IsUnknown(made.more_reads, snapshot);
  const Clock::time_point now = Clock::now();
  std::lock_guard lock(mutex_);
  if (!unknown) {
    review_until_.reset();
    return false;
  }
  if (!review_until_) review_until_ = now + pusher_->options_.time_to_review;
  if (now >= *review_until_) return false;
  return needs_check_ = review_waits_ = true;
}

// REQUIRES: work_mutex_ held.
void Stream::EndWait() {
  core_.Wait(0);
  std::lock_guard lock(mutex_);
  review_waits_ = false;
}

void Stream::CheckReview(Clock::time_point now) {
  {
    std::lock_guard lock(mutex_);
    if (!review_waits_ || scheduled_ || sending_.under_way() || now < *review_until_) return;
    review_waits_ = false;
    review_late_ = true;
    if (!MarkScheduled()) return;
  }
  Submit(UrgencyNow());
}

}  // namespace fairlead::push
