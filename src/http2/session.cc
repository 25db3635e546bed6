#include "http2/session.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "http2/http2_bytes.h"
#include "http2/http2_exchange.h"

namespace fairlead::http2 {
namespace {

LogScope transport_log("transport");

constexpr std::chrono::hours kRarePings{2};
constexpr std::chrono::seconds kLongAnswer{20};
constexpr int kMaxStrikes = 2;
// Between the first GOAWAY and the one that names the last stream, for what is under way; and for a peer to
// take its last status.
constexpr std::chrono::seconds kDrainStep{1};
// The payload of a ping that tells a drain's ping from the others.
constexpr uint8_t kDrainPing[8] = {'d', 'r', 'a', 'i', 'n', 'i', 'n', 'g'};
constexpr uint8_t kKeepalivePing[8] = {'a', 'l', 'i', 'v', 'e', 0, 0, 0};

struct KindRate {
  const char* name;
  Rate rate;
};
// By Session::Kind: what no well-behaved peer does more often.
constexpr KindRate kRates[] = {
    {"SETTINGS", {20, 1}},          {"PING", {100, 10}},
    {"RST_STREAM", {1000, 100}},    {"PRIORITY", {1000, 100}},
    {"WINDOW_UPDATE", {1000, 500}}, {"empty DATA", {100, 10}},
    {"invalid frame", {100, 10}},
};
// Bytes of fields beyond what requests may have, once they are out of HPACK: a few hundred of them say
// megabytes in each frame.
constexpr Rate kExcess{1 << 20, 64 << 10};
// Streams that end with their connection at a time.
constexpr int kEndsPerTurn = 500;

Clock::duration Or(std::chrono::milliseconds value, Clock::duration fallback) {
  return value.count() == 0 ? fallback : Clock::duration(value);
}

// A tenth more or less by chance.
Clock::duration Jittered(std::chrono::milliseconds age) {
  static thread_local std::minstd_rand random{std::random_device()()};
  return std::chrono::duration_cast<Clock::duration>(age *
                                                     std::uniform_real_distribution<>(0.9, 1.1)(random));
}

// The earlier of what was next and `time`; true where `time` has come.
bool Due(Clock::time_point time, Clock::time_point now, Clock::time_point* next) {
  if (time <= now) return true;
  *next = std::min(*next, time);
  return false;
}

}  // namespace

Session::Session(const ServedMethods& service, const HttpService* http, std::shared_ptr<Mailbox> mailbox,
                 std::shared_ptr<const Peer> peer, Counts* counts, ReadBudget* budget,
                 std::function<void()> touch, Clock::time_point now)
    : service_(service),
      http_(http),
      mailbox_(std::move(mailbox)),
      peer_(std::move(peer)),
      counts_(counts),
      budget_(budget),
      touch_(std::move(touch)),
      now_(now),
      last_received_(now),
      last_streams_(now) {
  proven_ = peer_->tls != nullptr && !peer_->tls->uris.empty();
  http2_ = MakeHttp2();
  const Limits& limits = service_.options().limits;
  const uint32_t calls =
      proven_ ? limits.max_streams : std::min(limits.max_streams, limits.max_streams_without_identity);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, http_ == nullptr ? calls : http_->limits.max_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(MaxHeaderBytes())},
  };
  nghttp2_submit_settings(http2_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(http2_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<int32_t>(limits.connection_window));
  const auto age = service_.options().keepalive.max_connection_age;
  old_at_ = age.count() == 0 ? Clock::time_point::max() : now + Jittered(age);
}

Session::~Session() {
  while (streams_ != nullptr) Remove(streams_);
  // Nothing more is written.
  for (size_t i = held_until_at_; i < held_until_.size(); ++i) {
    if (held_until_[i].stream != nullptr) held_until_[i].stream->OnWritten(false);
  }
  nghttp2_session_del(http2_);
}

bool Session::EndSome() {
  for (int i = 0; i < kEndsPerTurn && streams_ != nullptr; ++i) Remove(streams_);
  return streams_ == nullptr;
}

Standing Session::standing() const {
  if (proven_) return Standing::kProven;
  return heard_ && stream_count_ > 0 ? Standing::kHeard : Standing::kSilent;
}

void Session::Receive(std::string_view bytes, Clock::time_point now) {
  now_ = now;
  last_received_ = now;
  ping_deadline_ = {};
  counts_->bytes_received += bytes.size();
  if (failed_) return;
  const ssize_t taken = nghttp2_session_mem_recv(http2_, Bytes(bytes), bytes.size());
  if (taken == NGHTTP2_ERR_FLOODED) return Fail(NGHTTP2_ENHANCE_YOUR_CALM, "acknowledgement flood", "");
  if (taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC) {
    Fail(NGHTTP2_PROTOCOL_ERROR, "no HTTP/2", "");
    dead_ = true;
    return;
  }
  if (taken < 0) return Fail(NGHTTP2_PROTOCOL_ERROR, nghttp2_strerror(static_cast<int>(taken)), "");
  if (nghttp2_session_get_outbound_queue_size(http2_) > kMaxQueuedFrames + 4 * opened_)
    Fail(NGHTTP2_ENHANCE_YOUR_CALM, "answers that are not read", "");
}

void Session::OnBeginFrame(const nghttp2_frame_hd& frame) {
  switch (frame.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION:  // nghttp2 bounds their number
      return;
    case NGHTTP2_DATA:
      frame_data_ = 0;
      return;
    case NGHTTP2_SETTINGS:
      return Count(kSettings);
    case NGHTTP2_PING:
      return Count(kPing);
    case NGHTTP2_RST_STREAM:
      return Count(kReset);
    case NGHTTP2_PRIORITY:
      return Count(kPriority);
    case NGHTTP2_WINDOW_UPDATE:
      return Count(kWindowUpdate);
    default:
      return;
  }
}

void Session::Count(Kind kind) {
  if (failed_ || used_[kind].Take(kRates[kind].rate, now_)) return;
  Fail(NGHTTP2_ENHANCE_YOUR_CALM, StrCat(kRates[kind].name, " flood"), kRates[kind].name);
}

void Session::OnBeginHeaders(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS || frame.headers.cat != NGHTTP2_HCAT_REQUEST || failed_) return;
  std::shared_ptr<Http2Stream> stream = MakeStream(frame.hd.stream_id);
  Http2Stream* const raw = stream.get();
  nghttp2_session_set_stream_user_data(http2_, frame.hd.stream_id, raw);
  raw->next_ = streams_;
  if (streams_ != nullptr) streams_->previous_ = raw;
  streams_ = raw;
  ++stream_count_;
  ++counts_->streams_opened;
  raw->self_ = std::move(stream);
  incoming_ = std::make_unique<RequestFields>(MaxHeaderBytes());
}

std::shared_ptr<Http2Stream> Session::MakeStream(int32_t id) {
  if (http_ != nullptr) return std::make_shared<Http2Exchange>(this, id, *http_, mailbox_, peer_);
  return std::make_shared<GrpcStream>(this, id, mailbox_, peer_);
}

size_t Session::MaxHeaderBytes() const {
  return http_ == nullptr ? service_.options().limits.max_header_bytes : http_->limits.max_head;
}

Http2Stream* Session::Find(int32_t id) const {
  return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(http2_, id));
}

void Session::OnFrame(const nghttp2_frame& frame) {
  if (failed_) return;
  if (frame.hd.type == NGHTTP2_SETTINGS) greeted_ = true;
  if (frame.hd.type == NGHTTP2_PING) return OnPing(frame);
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
  const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (frame.hd.type == NGHTTP2_DATA && frame_data_ == 0 && !ends) Count(kEmptyData);  // padding, if anything
  Http2Stream* const stream = Find(frame.hd.stream_id);
  if (stream == nullptr) return;
  if (frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST) OpenStream(stream);
  if (ends) stream->TakeEnd();
}

void Session::OpenStream(Http2Stream* stream) {
  const std::unique_ptr<RequestFields> request = std::move(incoming_);
  if (request == nullptr) return;
  if (request->TooLarge()) Count(kInvalid);
  if (http_ == nullptr) return OpenCall(static_cast<GrpcStream*>(stream), *request);
  Arm(stream, now_ + http_->limits.request_patience);
  static_cast<Http2Exchange*>(stream)->Open(*request);
}

void Session::OpenCall(GrpcStream* stream, const RequestFields& request) {
  if (const auto refusal = request.Check()) return stream->Refuse(*refusal);
  const Method* const method = service_.Find(request.path());
  if (method == nullptr) {
    transport_log.Debug("{} calls {}, which is not served", peer_->address, request.path());
    return stream->Refuse({.status = service_.Refuse(request.path())});
  }
  const Limits& limits = service_.options().limits;
  if (const auto timeout = request.Timeout()) stream->deadline_ = now_ + *timeout;
  stream->patience_ = limits.first_message_timeout;
  stream->heard_ = stream->patience_.count() == 0;  // or as if it had been
  Arm(stream, stream->heard_ ? stream->deadline_ : std::min(stream->deadline_, now_ + stream->patience_));
  NoteOpened(stream);
  stream->Open(request, method->open, limits.max_message_size);
}

void Session::Arm(Http2Stream* stream, Clock::time_point time) {
  stream->timer_ = time;
  if (time != Clock::time_point::max()) timers_.emplace(time, stream);
}

void Session::Disarm(Http2Stream* stream) {
  if (stream->timer_ == Clock::time_point::max()) return;
  const auto [begin, end] = timers_.equal_range(stream->timer_);
  const auto own = std::find_if(begin, end, [&](const auto& entry) { return entry.second == stream; });
  if (own != end) timers_.erase(own);
}

void Session::Rearm(Http2Stream* stream, Clock::time_point time) {
  Disarm(stream);
  Arm(stream, time);
  touch_();
}

// False: the peer is sent away.
bool Session::TakeField(bool of_request, std::string_view name, std::string_view value) {
  const bool kept = of_request && incoming_ != nullptr;
  if (kept) incoming_->Add(name, value);
  if (kept && !incoming_->TooLarge()) return true;
  if (excess_.Take(kExcess, now_, static_cast<float>(name.size() + value.size()) + 1)) return true;
  Fail(NGHTTP2_ENHANCE_YOUR_CALM, "headers flood", "");
  return false;
}

void Session::OnPing(const nghttp2_frame& frame) {
  if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0) return Strike();
  if (draining_ == Draining::kNoticed && std::equal(kDrainPing, std::end(kDrainPing), frame.ping.opaque_data))
    drain_step_ = now_;  // all that was under way before the peer knew has come
}

// Source: gRPC's doc/keepalive.md, "server enforcement"
void Session::Strike() {
  const Clock::duration interval = Or(service_.options().keepalive.interval, kRarePings) / 2;
  const bool early = last_ping_ != Clock::time_point() && now_ < last_ping_ + interval;
  last_ping_ = now_;
  if (early && ++strikes_ > kMaxStrikes) Fail(NGHTTP2_ENHANCE_YOUR_CALM, "too_many_pings", "too_many_pings");
}

void Session::OnFrameSent(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_GOAWAY) {
    goaway_sent_ = true;
    if (frame.goaway.error_code != NGHTTP2_NO_ERROR && !failed_) {
      failed_ = true;  // nghttp2 has found the peer to break the rules
      failure_ = "protocol error";
    }
  }
  const bool data = frame.hd.type == NGHTTP2_DATA, headers = frame.hd.type == NGHTTP2_HEADERS;
  if (data || headers) {
    strikes_ = 0;
    last_ping_ = {};
    // A client measures the bandwidth by a ping when data has come: gRPC's BDP estimation.
    used_[kPing].Forgive(1);
  }
  // A peer that makes us refuse streams is as one that resets them itself.
  if (frame.hd.type == NGHTTP2_RST_STREAM && frame.rst_stream.error_code != NGHTTP2_NO_ERROR) Count(kReset);
  // A client that has not said all is told that nobody listens.
  const int32_t id = frame.hd.stream_id;
  if ((headers || data) && (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 &&
      nghttp2_session_get_stream_remote_close(http2_, id) == 0)
    nghttp2_submit_rst_stream(http2_, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
}

bool Session::BatchIsFull() const {
  static constexpr size_t kRoomForFrame = (16 << 10) + 64;  // of nghttp2's own making
  return batch_->size() >= batch_most_ || batch_->room() < kRoomForFrame;
}

void Session::Produce(size_t most, Batch* batch) {
  batch_ = batch;
  batch_most_ = most;
  while (!BatchIsFull() && !dead_ && !(failed_ && goaway_sent_)) {
    const size_t before = batch->size();
    const uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(http2_, &data);
    if (size < 0) {
      if (failure_.empty()) failure_ = nghttp2_strerror(static_cast<int>(size));
      failed_ = dead_ = true;
      break;
    }
    if (size > 0) {
      batch->Copy(data, static_cast<size_t>(size));
      produced_ += static_cast<size_t>(size);
    } else if (batch->size() == before) {
      break;
    }
  }
  batch_ = nullptr;
}

void Session::AwaitWritten(std::shared_ptr<Http2Stream> stream) {
  held_until_.push_back({produced_, std::move(stream), {}});
}

void Session::KeepUntilWritten(std::vector<Slice> slices) {
  if (written_ < produced_) held_until_.push_back({produced_, nullptr, std::move(slices)});
}

void Session::Written(size_t bytes) {
  written_ += bytes;
  counts_->bytes_sent += bytes;
  while (held_until_at_ < held_until_.size() && held_until_[held_until_at_].until <= written_) {
    const Held held = std::move(held_until_[held_until_at_++]);
    if (held.stream == nullptr) continue;
    ++counts_->messages_sent;
    held.stream->OnWritten(true);
  }
  if (held_until_at_ < held_until_.size()) return;
  held_until_at_ = 0;
  held_until_.clear();
  if (held_until_.capacity() > 4) held_until_.shrink_to_fit();
}

void Session::OpenWindow(int32_t stream, size_t bytes) {
  nghttp2_submit_window_update(http2_, NGHTTP2_FLAG_NONE, stream, static_cast<int32_t>(bytes));
}

size_t Session::Untold(int32_t stream) const {
  return static_cast<size_t>(
      std::max(0, nghttp2_session_get_stream_effective_recv_data_length(http2_, stream)));
}

void Session::Remove(Http2Stream* stream) {
  nghttp2_session_set_stream_user_data(http2_, stream->id_, nullptr);
  if (stream->next_ != nullptr) stream->next_->previous_ = stream->previous_;
  (stream->previous_ != nullptr ? stream->previous_->next_ : streams_) = stream->next_;
  Disarm(stream);
  --stream_count_;
  if (stream->counted_) --opened_;
  ++counts_->streams_closed;
  if (stream_count_ == 0) last_streams_ = now_;
  const std::shared_ptr<Http2Stream> self = std::move(stream->self_);
  self->Detach();
}

void Session::Fail(uint32_t code, std::string reason, std::string_view debug_data) {
  if (failed_) return;
  failed_ = true;
  transport_log.Debug("{} is sent away: {}", peer_->address, reason);
  failure_ = std::move(reason);
  nghttp2_submit_goaway(http2_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(http2_), code,
                        Bytes(debug_data), debug_data.size());
  touch_();
}

bool Session::Done() const {
  if (dead_) return true;
  if (failed_) return goaway_sent_;
  return nghttp2_session_want_read(http2_) == 0 && nghttp2_session_want_write(http2_) == 0;
}

Clock::time_point Session::Check(Clock::time_point now) {
  now_ = now;
  Clock::time_point next = Clock::time_point::max();
  while (!timers_.empty() && Due(timers_.begin()->first, now, &next)) {
    Http2Stream* const stream = timers_.begin()->second;
    timers_.erase(timers_.begin());
    Arm(stream, stream->Expire());
    touch_();
  }
  if (!failed_) CheckKeepalive(now, &next);
  CheckDrain(now, &next);
  return next;
}

void Session::CheckKeepalive(Clock::time_point now, Clock::time_point* next) {
  const KeepaliveOptions& keepalive = service_.options().keepalive;
  if (ping_deadline_ != Clock::time_point()) {
    if (!Due(ping_deadline_, now, next)) return;
    failed_ = dead_ = true;
    failure_ = "keepalive";
    return;
  }
  if (!Due(last_received_ + Or(keepalive.interval, kRarePings), now, next)) return;
  nghttp2_submit_ping(http2_, NGHTTP2_FLAG_NONE, kKeepalivePing);
  ping_deadline_ = now + Or(keepalive.timeout, kLongAnswer);
  *next = std::min(*next, ping_deadline_);
  touch_();
}

void Session::CheckDrain(Clock::time_point now, Clock::time_point* next) {
  const KeepaliveOptions& keepalive = service_.options().keepalive;
  if (draining_ == Draining::kNo) {
    if (Due(old_at_, now, next)) Drain("age", now, now + keepalive.max_connection_age_grace);
    const auto idle = http_ == nullptr ? keepalive.max_connection_idle : http_->limits.request_patience;
    if (idle.count() > 0 && stream_count_ == 0 && Due(last_streams_ + idle, now, next))
      Drain("idle", now, now + kDrainStep);
  }
  const bool nothing_open = ending_ && stream_count_ == 0;
  if (draining_ == Draining::kNoticed &&
      (nothing_open || Due(std::min(drain_step_, drain_end_), now, next))) {
    draining_ = Draining::kGoing;
    nghttp2_submit_goaway(http2_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(http2_),
                          NGHTTP2_NO_ERROR, nullptr, 0);
    touch_();
  }
  if (draining_ == Draining::kGoing && Due(drain_end_, now, next)) {
    draining_ = Draining::kEnded;
    drain_end_ = now + kDrainStep;
    EndStreams(absl::UnavailableError(StrCat("the connection ends: ", failure_)));
  }
  if (draining_ == Draining::kEnded && Due(drain_end_, now, next)) failed_ = dead_ = true;
}

void Session::Drain(std::string_view reason, Clock::time_point now, Clock::time_point end) {
  if (failed_) return;
  if (draining_ != Draining::kNo) {
    drain_end_ = std::min(drain_end_, end);
    return touch_();
  }
  failure_ = reason;
  draining_ = Draining::kNoticed;
  drain_step_ = now + kDrainStep;
  drain_end_ = end;
  nghttp2_submit_shutdown_notice(http2_);
  nghttp2_submit_ping(http2_, NGHTTP2_FLAG_NONE, kDrainPing);
  touch_();
}

void Session::End(Clock::time_point now, Clock::time_point end) {
  ending_ = true;
  Drain("shutdown", now, end);
}

void Session::EndStreams(const absl::Status& status) {
  for (Http2Stream* stream = streams_; stream != nullptr; stream = stream->next_)
    stream->EndWithConnection(status);
  touch_();
}

}  // namespace fairlead::http2
