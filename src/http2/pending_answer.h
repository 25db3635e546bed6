#ifndef FAIRLEAD_HTTP2_PENDING_ANSWER_H_
#define FAIRLEAD_HTTP2_PENDING_ANSWER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/clock.h"
#include "http2/http_stream.h"
#include "http2/mailbox.h"
#include "http2/peer.h"

namespace fairlead::http2 {

// Where the answer of a request goes, over HTTP/1.1 or HTTP/2. For the loop's thread.
class AnswerTaker {
 public:
  virtual ~AnswerTaker() = default;
  virtual void TakeAnswer(HttpAnswer answer) = 0;
  virtual void BeginAnswer(HttpAnswer head) = 0;
  virtual void TakeMore(std::string bytes) = 0;
  virtual void EndAnswer() = 0;
  virtual void NoteAwaited() = 0;  // PendingAnswer::until() is another
};

// The end of a request that its handler has: thread-safe, by the loop's mailbox. Attached to its taker until
// that has a whole answer, or goes.
class PendingAnswer final : public HttpStream, public std::enable_shared_from_this<PendingAnswer> {
 public:
  PendingAnswer(AnswerTaker* taker, std::shared_ptr<Mailbox> mailbox, std::shared_ptr<const Peer> peer)
      : taker_(taker), mailbox_(std::move(mailbox)), peer_(std::move(peer)) {}

  void Answer(HttpAnswer answer) override;
  void Begin(HttpAnswer head) override;
  void Say(std::string bytes) override;
  void End() override;
  void Await(Clock::duration patience, std::function<void(Unanswered)> end) override;
  const std::string& peer() const override { return peer_->address; }

  // The rest is for the loop's thread.
  // When Expire is to be called; max: never.
  Clock::time_point until() const;
  void Expire();
  // Without a whole answer.
  void Abandon();
  // With a whole one.
  void Detach();

 private:
  enum class Stage { kOpen, kBegun, kOver };
  // Does it for the taker, if the answer is in that stage, which is `to` from then on.
  void Do(Stage from, Stage to, std::function<void(AnswerTaker&)> what);
  std::function<void(Unanswered)> Take(bool gone);

  AnswerTaker* taker_;          // null: detached; for the loop's thread
  Stage stage_ = Stage::kOpen;  // for the loop's thread
  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<const Peer> peer_;
  mutable std::mutex mutex_;
  std::function<void(Unanswered)> end_;  // guarded by mutex_
  Clock::time_point until_{};            // likewise; max: the client's going alone is awaited
  bool gone_ = false;                    // likewise
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_PENDING_ANSWER_H_
