#ifndef FAIRLEAD_HTTP2_HTTP1_SESSION_H_
#define FAIRLEAD_HTTP2_HTTP1_SESSION_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http2/counts.h"
#include "http2/http_parser.h"
#include "http2/http_stream.h"
#include "http2/mailbox.h"
#include "http2/peer.h"
#include "http2/pending_answer.h"
#include "http2/protocol.h"

namespace fairlead::http2 {

// One request of HTTP/1.1 and its answer, after which the connection ends. `touch` is called when there may
// be something new to send. Source: RFC 9112
class Http1Session final : public SpokenProtocol, public AnswerTaker {
 public:
  Http1Session(const HttpService& service, std::shared_ptr<Mailbox> mailbox, std::shared_ptr<const Peer> peer,
               Counts* counts, std::function<void()> touch, Clock::time_point now);
  ~Http1Session() override;
  Http1Session(const Http1Session&) = delete;
  Http1Session& operator=(const Http1Session&) = delete;

  void Receive(std::string_view bytes, Clock::time_point now) override;
  void Produce(size_t most, Batch* batch) override;
  void Written(size_t bytes) override;
  Clock::time_point Check(Clock::time_point now) override;
  void End(Clock::time_point now, Clock::time_point end) override;
  bool Done() const override { return stage_ == Stage::kDone; }
  bool Cut() const override { return cut_; }
  const std::string& failure() const override { return failure_; }
  bool greeted() const override { return true; }  // what is due has times of its own
  Standing standing() const override;
  size_t streams() const override { return pending_ == nullptr ? 0 : 1; }
  size_t held() const override { return held_; }

  void TakeAnswer(HttpAnswer answer) override;
  void BeginAnswer(HttpAnswer head) override;
  void TakeMore(std::string bytes) override;
  void EndAnswer() override;
  void NoteAwaited() override { touch_(); }

 private:
  enum class Stage { kReading, kAnswering, kSending, kDone };

  void Open();
  void Refuse(int status);
  void Queue(std::string bytes);
  void QueueChunk(std::string_view bytes);
  void NoteUnsent();
  void Fail(std::string_view reason);
  void NoteHeld(size_t held);
  bool HoldsTooMuch() const { return service_.held.load() > service_.limits.max_held; }

  const HttpService& service_;
  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<const Peer> peer_;
  Counts* const counts_;
  const std::function<void()> touch_;
  const Clock::time_point since_;
  std::unique_ptr<HttpParser> parser_;      // null: the request was taken
  std::shared_ptr<PendingAnswer> pending_;  // null: no request is open
  Stage stage_ = Stage::kReading;
  bool head_only_ = false;  // the answer's body is not sent
  bool continued_ = false;  // the client was told to go on
  bool opened_ = false;
  bool takes_chunks_ = false, in_chunks_ = false;
  bool whole_ = false;                               // nothing is added to the answer any more
  std::deque<std::string> out_;                      // of the answer, that is not written
  size_t unsent_ = 0;                                // bytes of it
  size_t produced_ = 0, written_ = 0;                // bytes of it, from the beginning of the first
  size_t interim_ = 0;                               // bytes that go before it and are to be produced
  size_t interim_unwritten_ = 0;                     // those that were
  size_t passed_over_ = 0;                           // bytes that came after the request
  size_t held_ = 0;                                  // as the service counts it
  Clock::time_point end_{Clock::time_point::max()};  // with the server
  std::string failure_;
  bool cut_ = false;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_HTTP1_SESSION_H_
