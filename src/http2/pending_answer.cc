#include "http2/pending_answer.h"

namespace fairlead::http2 {

void PendingAnswer::Do(Stage from, Stage to, std::function<void(AnswerTaker&)> what) {
  mailbox_->PostTask([self = shared_from_this(), from, to, what = std::move(what)] {
    if (self->taker_ == nullptr || self->stage_ != from) return;
    self->stage_ = to;
    what(*self->taker_);
  });
}

void PendingAnswer::Answer(HttpAnswer answer) {
  auto held = std::make_shared<HttpAnswer>(std::move(answer));
  Do(Stage::kOpen, Stage::kOver, [held](AnswerTaker& taker) { taker.TakeAnswer(std::move(*held)); });
}

void PendingAnswer::Begin(HttpAnswer head) {
  auto held = std::make_shared<HttpAnswer>(std::move(head));
  Do(Stage::kOpen, Stage::kBegun, [held](AnswerTaker& taker) { taker.BeginAnswer(std::move(*held)); });
}

void PendingAnswer::Say(std::string bytes) {
  if (bytes.empty()) return;
  auto held = std::make_shared<std::string>(std::move(bytes));
  Do(Stage::kBegun, Stage::kBegun, [held](AnswerTaker& taker) { taker.TakeMore(std::move(*held)); });
}

void PendingAnswer::End() {
  Do(Stage::kBegun, Stage::kOver, [](AnswerTaker& taker) { taker.EndAnswer(); });
}

void PendingAnswer::Await(Clock::duration patience, std::function<void(Unanswered)> end) {
  std::unique_lock lock(mutex_);
  if (gone_) {
    lock.unlock();
    return end(Unanswered::kGone);
  }
  end_ = std::move(end);
  const Clock::time_point now = Clock::now();
  until_ = patience < Clock::time_point::max() - now ? now + patience : Clock::time_point::max();
  lock.unlock();
  mailbox_->PostTask([self = shared_from_this()] {
    if (self->taker_ != nullptr) self->taker_->NoteAwaited();
  });
}

Clock::time_point PendingAnswer::until() const {
  const std::lock_guard lock(mutex_);
  return end_ == nullptr || stage_ != Stage::kOpen ? Clock::time_point::max() : until_;
}

void PendingAnswer::Expire() {
  if (const auto end = Take(false)) end(Unanswered::kInTime);
}

void PendingAnswer::Abandon() {
  taker_ = nullptr;
  if (const auto end = Take(true)) end(Unanswered::kGone);
}

void PendingAnswer::Detach() {
  taker_ = nullptr;
  Take(true);
}

std::function<void(HttpStream::Unanswered)> PendingAnswer::Take(bool gone) {
  const std::lock_guard lock(mutex_);
  gone_ |= gone;
  return std::exchange(end_, nullptr);
}

}  // namespace fairlead::http2
