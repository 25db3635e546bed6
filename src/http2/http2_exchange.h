#ifndef FAIRLEAD_HTTP2_HTTP2_EXCHANGE_H_
#define FAIRLEAD_HTTP2_HTTP2_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http2/http2_stream.h"
#include "http2/http_stream.h"
#include "http2/mailbox.h"
#include "http2/peer.h"
#include "http2/pending_answer.h"
#include "http2/request.h"

namespace fairlead::http2 {

// A plain request on a session of HTTP/2, and its answer. For the loop's thread. Source: RFC 9113, 8
class Http2Exchange final : public Http2Stream, public AnswerTaker {
 public:
  Http2Exchange(Session* session, int32_t id, const HttpService& service, std::shared_ptr<Mailbox> mailbox,
                std::shared_ptr<const Peer> peer);
  ~Http2Exchange() override;

  // The header fields have come.
  void Open(const RequestFields& request);

  void TakeAnswer(HttpAnswer answer) override;
  void BeginAnswer(HttpAnswer head) override;
  void TakeMore(std::string bytes) override;
  void EndAnswer() override;
  void NoteAwaited() override;

 private:
  enum class Stage { kReading, kAnswering, kSending };

  void TakeData(std::string_view bytes) override;
  void TakeEnd() override;
  Clock::time_point Expire() override;
  Next NextBytes(size_t most, size_t* size) override;
  void Produce(size_t size, Batch* batch) override;
  void OnWritten(bool) override {}
  void Detach() override;
  void EndWithConnection(const absl::Status& status) override;

  void Refuse(int status);
  void Submit(HttpAnswer answer, bool with_length);
  void Queue(std::string bytes);
  void Resume();
  void NoteHeld();
  bool HoldsTooMuch() const { return service_.held.load() > service_.limits.max_held; }

  const HttpService& service_;
  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<const Peer> peer_;
  ParsedRequest request_;
  std::shared_ptr<PendingAnswer> pending_;  // null: no request is open
  Stage stage_ = Stage::kReading;
  bool head_only_ = false;  // the answer's body is not sent
  bool whole_ = false;      // nothing is added to the answer any more
  bool deferred_ = false;   // nghttp2 waits to be told that there is more to send
  std::deque<std::shared_ptr<const std::string>> unsent_;  // of the answer's body
  size_t at_ = 0;                                          // the position in the first
  size_t left_ = 0;                                        // bytes of all
  size_t request_bytes_ = 0;
  size_t held_ = 0;  // as the service counts it
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_HTTP2_EXCHANGE_H_
