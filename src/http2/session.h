#ifndef FAIRLEAD_HTTP2_SESSION_H_
#define FAIRLEAD_HTTP2_SESSION_H_

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http2/counts.h"
#include "http2/grpc_stream.h"
#include "http2/http2_stream.h"
#include "http2/http_stream.h"
#include "http2/mailbox.h"
#include "http2/options.h"
#include "http2/output.h"
#include "http2/protocol.h"
#include "http2/rate_limit.h"
#include "http2/read_budget.h"
#include "http2/request.h"
#include "http2/service.h"

namespace fairlead::http2 {

// One HTTP/2 connection without its socket: bytes in, bytes out, the time as an argument. Keeps HTTP/2's
// rules by nghttp2, gRPC's or those of plain requests by its streams, and bounds what the peer may do. For
// one thread, the loop's; `touch` is called when there may be something new to send. Sources: RFC 9113;
// github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, doc/keepalive.md
class Session final : public SpokenProtocol {
 public:
  // `http`: what plain requests go to; null: gRPC's calls are taken.
  Session(const ServedMethods& service, const HttpService* http, std::shared_ptr<Mailbox> mailbox,
          std::shared_ptr<const Peer> peer, Counts* counts, ReadBudget* budget, std::function<void()> touch,
          Clock::time_point now);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Receive(std::string_view bytes, Clock::time_point now) override;
  void Produce(size_t most, Batch* batch) override;
  void Written(size_t bytes) override;
  Clock::time_point Check(Clock::time_point now) override;
  // Tells the peer to go elsewhere; what still runs at `end` ends with UNAVAILABLE.
  void Drain(std::string_view reason, Clock::time_point now, Clock::time_point end);
  // The same for the end of the server, which waits for all: without streams no time is left for one that may
  // be under way. Its client tries elsewhere, as it is told that the stream was not looked at.
  void End(Clock::time_point now, Clock::time_point end) override;
  bool EndSome() override;

  bool Done() const override;
  // A peer that is not heard from any more will not hear either.
  bool Cut() const override { return failure_ == "keepalive"; }
  const std::string& failure() const override { return failure_; }
  size_t Appetite() const override { return stream_count_ > kManyStreams ? kSmallPiece : SIZE_MAX; }
  bool greeted() const override { return greeted_; }  // HTTP/2's preface is through
  Standing standing() const override;
  size_t streams() const override { return stream_count_; }
  size_t held() const override { return held_; }

  // For its streams.
  nghttp2_session* http2() { return http2_; }
  static nghttp2_data_provider DataProvider();
  void Touch() { touch_(); }
  // Tells the client that it may send so many more, which were taken.
  void OpenWindow(int32_t stream, size_t bytes);
  // Bytes that a stream has received, taken or not, and its client's window was not told of.
  size_t Untold(int32_t stream) const;
  ReadBudget& budget() { return *budget_; }
  size_t window() const { return service_.options().limits.stream_window; }
  Clock::time_point now() const { return now_; }
  void NoteMessageReceived() {
    ++counts_->messages_received;
    heard_ = true;
  }
  void NoteAnswered() { ++counts_->messages_sent; }
  void NoteOpened(Http2Stream* stream) {
    stream->counted_ = true;
    ++opened_;
  }
  // The peer is somebody, by what one of its streams has shown.
  void NoteProven() { proven_ = true; }
  void NoteHeld(size_t before, size_t now) { held_ += now - before; }
  bool HoldsTooMuch() const {
    const Limits& limits = service_.options().limits;
    return held_ > limits.max_held + limits.max_message_size;
  }
  void AwaitWritten(std::shared_ptr<Http2Stream> stream);
  void KeepUntilWritten(std::vector<Slice> slices);
  void Remove(Http2Stream* stream);
  // Its Expire is called at that time instead of another.
  void Rearm(Http2Stream* stream, Clock::time_point time);

 private:
  enum Kind { kSettings, kPing, kReset, kPriority, kWindowUpdate, kEmptyData, kInvalid, kKinds };
  // Frames that wait for a peer that does not read, and are not its streams' own.
  static constexpr size_t kMaxQueuedFrames = 1000;
  // Frames by which streams begin and end are small: of a peer with many, a few hundred are taken at a time.
  static constexpr size_t kManyStreams = 1000, kSmallPiece = 4 << 10;
  struct Callbacks;
  friend struct Callbacks;
  // What lasts until so many bytes are written.
  struct Held {
    uint64_t until;
    std::shared_ptr<Http2Stream> stream;
    std::vector<Slice> slices;
  };

  nghttp2_session* MakeHttp2();
  void OnBeginFrame(const nghttp2_frame_hd& frame);
  void OnBeginHeaders(const nghttp2_frame& frame);
  void OnFrame(const nghttp2_frame& frame);
  void OnPing(const nghttp2_frame& frame);
  void OnFrameSent(const nghttp2_frame& frame);
  bool TakeField(bool of_request, std::string_view name, std::string_view value);
  void OpenStream(Http2Stream* stream);
  void OpenCall(GrpcStream* stream, const RequestFields& request);
  std::shared_ptr<Http2Stream> MakeStream(int32_t id);
  void Arm(Http2Stream* stream, Clock::time_point time);
  void Disarm(Http2Stream* stream);
  Http2Stream* Find(int32_t id) const;
  size_t MaxHeaderBytes() const;
  void Count(Kind kind);
  void Strike();
  void Fail(uint32_t code, std::string reason, std::string_view debug_data);
  void CheckKeepalive(Clock::time_point now, Clock::time_point* next);
  void CheckDrain(Clock::time_point now, Clock::time_point* next);
  bool BatchIsFull() const;
  void EndStreams(const absl::Status& status);

  const ServedMethods& service_;
  const HttpService* const http_;
  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<const Peer> peer_;
  Counts* const counts_;
  ReadBudget* const budget_;
  const std::function<void()> touch_;
  nghttp2_session* http2_ = nullptr;
  std::unique_ptr<RequestFields> incoming_;  // whose fields are coming
  Http2Stream* streams_ = nullptr;           // the newest of a list
  size_t stream_count_ = 0;
  size_t opened_ = 0;      // of them, that were not refused
  size_t frame_data_ = 0;  // bytes that the DATA frame of the moment has said
  std::multimap<Clock::time_point, Http2Stream*> timers_;

  Batch* batch_ = nullptr;  // that is being filled, up to so many bytes
  size_t batch_most_ = 0;
  uint64_t produced_ = 0, written_ = 0;
  std::vector<Held> held_until_;
  size_t held_until_at_ = 0;
  size_t held_ = 0;  // bytes of streams that wait

  Clock::time_point now_, last_received_, last_streams_;
  Clock::time_point ping_deadline_{};  // of the keepalive ping's answer; zero: none is under way
  Clock::time_point last_ping_{};      // of the peer's
  int strikes_ = 0;
  Clock::time_point old_at_;  // by its age
  enum class Draining { kNo, kNoticed, kGoing, kEnded } draining_ = Draining::kNo;
  Clock::time_point drain_step_{}, drain_end_{};
  bool ending_ = false;  // with the server
  std::array<RateLimit, kKinds> used_;
  RateLimit excess_;  // bytes of fields beyond what a request may have
  std::string failure_;
  bool failed_ = false;       // nothing is taken any more; the last GOAWAY says why
  bool goaway_sent_ = false;  // one has been
  bool dead_ = false;         // the peer does not even hear why
  bool greeted_ = false;
  bool heard_ = false;  // a message has come
  bool proven_ = false;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_SESSION_H_
