#ifndef FAIRLEAD_PUSH_STREAM_STREAM_H_
#define FAIRLEAD_PUSH_STREAM_STREAM_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "mesh/view/proxy_scope.h"
#include "model/proxy.h"
#include "push/stream/authorizer.h"
#include "push/stream/inspection.h"
#include "push/stream/object_subscriptions.h"
#include "push/stream/part_cache.h"
#include "push/stream/plain_answers.h"
#include "push/stream/push_metrics.h"
#include "push/stream/reason.h"
#include "push/stream/sending.h"
#include "push/stream/stream_report.h"
#include "push/stream/stream_share.h"
#include "push/stream/track_position.h"
#include "xds/response.h"
#include "xds/stream_core.h"

namespace fairlead::push {

class Pusher;

// The transport below a stream: gRPC, or a test's fake. All calls return at once and may come from any
// thread. After Close nothing is delivered or accepted any more but Stream::OnClosed.
class StreamConnection {
 public:
  virtual ~StreamConnection() = default;
  // Delivers one more request, by Stream::OnRequest. At most one is asked for at a time.
  virtual void Read() = 0;
  // Sends a message; Stream::OnSent follows. At most one is under way at a time.
  virtual void Send(xds::Frame frame) = 0;
  // Ends the stream with a status, after what is under way.
  virtual void Close(const absl::Status& status) = 0;
  // Ends the stream at once, whatever is under way.
  virtual void Abort() = 0;
};

// How requests and responses follow each other.
enum class Exchange : uint8_t {
  kStream,  // any number of both, as long as the client stays
  kFetch,   // one request, answered at once
  kPoll,    // one request, answered when there is another version than the one that it names
};

struct StreamOptions {
  xds::Framing framing = xds::Framing::kStateOfTheWorld;
  std::optional<xds::TypeId> only = std::nullopt;  // the one type that is spoken of; none: all
  Exchange exchange = Exchange::kStream;
  StreamPeer peer = {};
};

// One xDS stream: feeds the protocol core, makes what it wants from the newest snapshot, and sends. An actor:
// events come from any thread and are noted; the work is done by one executor thread at a time. While a
// message is under way nothing is made, so that a slow proxy has at most one push pending, and that of the
// newest snapshot.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Pusher* pusher, uint64_t number, StreamOptions options);
  ~Stream();

  // Begins to read. The stream keeps the connection until OnClosed.
  void Start(std::shared_ptr<StreamConnection> connection);
  // Reads a request: the first one from Start, or later where streams are admitted at a rate.
  void Read();

  void OnRequest(std::string_view bytes);
  void OnSent(bool ok);
  void OnClosed();
  uint64_t number() const { return number_; }
  // There is a new snapshot, which may concern the stream.
  void OnPublished();
  // Goes over to another track, which must outlive the stream.
  void Follow(Track* track);
  bool Follows(const Track* track) const { return position_.Follows(track); }
  const Track* following() const { return position_.following(); }
  // Who the client is; null before it has said so. Waits for what is being made for the stream.
  model::ProxyPtr proxy() const;
  // The client is gone.
  void ForgetInterests();
  // Whether Check may have something to do.
  bool NeedsCheck() const { return needs_check_.load(std::memory_order_relaxed); }
  // Cuts the stream if a message has been under way for too long. Sends what was held back if the client has
  // had time enough to let go of it (see StreamCore::HoldsBack). To be called every now and then.
  void Check(Clock::time_point now);
  // Lets the message under way take so much longer.
  void Excuse(Clock::duration lost);
  // Whether a request, a push or a message is under way.
  bool Busy() const;
  void Close(const absl::Status& status);
  // Nothing before the client has said who it is. Waits for what is being made for the stream.
  std::optional<StreamReport> Report() const;

 private:
  friend class Pusher;
  void CheckDeadline(Clock::time_point now);
  void CheckQuiet(Clock::time_point now);
  void CheckReview(Clock::time_point now);
  bool AwaitsReview(const LastResources& made);
  void EndWait();
  void Schedule();
  bool MarkScheduled();  // true: to be submitted
  void Run();
  Urgency UrgencyNow() const;
  void Submit(Urgency urgency);
  bool Step();  // false: nothing to do for now
  bool TakeRequest();
  bool TakeAtOnce(std::string_view bytes);
  void NoteIdle();
  bool TurnAway(std::string_view bytes);
  bool HoldsTooMuch();
  void Handle(std::string_view bytes);
  bool CheckType(xds::DecodedRequest* request);
  void Inspect(const xds::DecodedRequest& request);
  void TakeObjectRequest(const xds::DecodedRequest& request);
  bool SendObjects();  // false: none are due
  void AnswerUnknown(const xds::DecodedRequest& request);
  void SendAnswer();
  bool Identify(const xds::DecodedRequest& request);
  bool IsKeptWaiting(const model::ProxyPtr& proxy);
  void OnReady(const absl::Status& status);
  void TellHealth(const xds::DecodedRequest& request);
  bool Turn(std::string_view node, const absl::Status& status);
  void ChooseSource();
  void Note(const xds::DecodedRequest& request, const xds::RequestVerdict& verdict);
  void TellAnswer(const xds::DecodedRequest& request, xds::TypeId type);
  void Refuse(std::string_view type_url, const std::string& excess);
  void Warn(const std::string& text) const;
  static void NoteTimes(const xds::DecodedRequest& request, xds::RequestVerdict::Kind verdict,
                        TypeTimes* times);
  void LogRequest(const xds::DecodedRequest& request, xds::RequestVerdict::Kind verdict,
                  std::string_view type) const;
  void BeginPush();
  uint32_t TypesMadeFrom(const TouchedReads& touched) const;
  bool WaitsForSent() const;
  void EndPush();
  void FindScope();
  mesh::World World() const;  // REQUIRES: there is a publication
  void ReleaseSnapshot();
  // What a response is counted as, and named in logs.
  struct SentAs {
    std::string_view name;
    PushMetrics::OfType& metrics;
    TypeTimes& times;
  };
  void Send(const xds::Response& response, const SentAs& as, Clock::time_point start);
  void LogSend(const xds::Response& response, std::string_view name, size_t size, double took) const;
  // `errors` counts if the client does not read it; null: nothing does.
  void Transmit(xds::Frame frame, metrics::Counter* errors);

  Pusher* const pusher_;
  const uint64_t number_;
  const StreamOptions options_;
  const WallTime connected_at_ = std::chrono::system_clock::now();

  mutable std::mutex mutex_;
  std::shared_ptr<StreamConnection> connection_;  // null: closed
  std::optional<std::string> request_;            // that waits for Run
  bool scheduled_ = false, again_ = false;
  Sending sending_;
  bool waits_for_sent_ = false;                 // there is more to do once the message under way is sent
  std::optional<Clock::time_point> converges_;  // since when the push has been due that the message completes
  Clock::time_point idle_since_{};              // when the last work was done
  bool holds_back_ = false;                     // as the core said then
  bool quiet_ = false;                          // to be told to the core
  // Until when secrets wait for a review, see AwaitsReview; nothing: none of them is unknown.
  std::optional<Clock::time_point> review_until_;
  bool review_waits_ = false, review_late_ = false;  // they wait; to be told to the core that they do not
  bool kept_waiting_ = false;          // the first request waits until the observer of connections says so
  bool admitted_ = false;              // it has been asked
  std::atomic<bool> observed_{false};  // the observer of connections is told of the stream
  std::atomic<bool> needs_check_{
      false};  // a message is under way, or something is held back or waits; may be late to fall

  // What follows is Run's, which holds the lock for a step at a time, and Report's.
  mutable std::mutex work_mutex_;
  xds::StreamCore core_;
  StreamShare share_;
  model::ProxyPtr proxy_;                        // null before the first request
  std::optional<model::PeerIdentity> identity_;  // of the peer, verified
  std::string name_;                             // of the proxy, for logs: "reviews-v1-1.default-7"
  metrics::Gauge* connected_ = nullptr;          // that counts this stream
  mesh::ProxyScopePtr scope_;                    // the proxy in it
  std::array<LastResources, xds::kTypeCount> made_;
  TrackPosition position_;
  std::atomic<bool> pushing_{
      false};  // a publication is being pushed, and not yet all of it; others may read it
  bool pushed_any_ = false;
  Reasons reasons_;                      // of the push
  std::optional<TouchedReads> touched_;  // of what was made before the push; nothing: perhaps all, or none
  uint32_t compared_ = ~0u;              // the types that the push may change
  std::array<TypeTimes, xds::kTypeCount> times_;
  PlainAnswers answers_;
  bool asks_again_ = false;                       // the request is handled once more, see IsKeptWaiting
  bool read_later_ = false;                       // the next request is read when an answer is sent
  std::unique_ptr<ObjectSubscriptions> objects_;  // null: the client asked for none
  Hash128 inspected_ = {};  // what was last asked for, so that an ACK is told from a question
};
using StreamPtr = std::shared_ptr<Stream>;

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_STREAM_H_
