#include "transport/http1_session.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "base/strings.h"

namespace fairlead::transport {
namespace {

LogScope http_log("http");

// Of what comes after a request while it is being answered.
constexpr size_t kMostPassedOver = 64 << 10;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Source: RFC 9110, 15; and RFC 6585
std::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 429:
      return "Too Many Requests";
    case 503:
      return "Service Unavailable";
    default:
      return status < 400 ? "OK" : "Error";
  }
}

bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

std::string Text(const HttpAnswer& answer, bool head_only) {
  std::string out = StrCat("HTTP/1.1 ", answer.status, " ", Reason(answer.status), "\r\n");
  for (const auto& [name, value] : answer.headers) StrAppend(&out, name, ": ", value, "\r\n");
  if (HasBody(answer.status)) StrAppend(&out, "Content-Length: ", answer.body.size(), "\r\n");
  StrAppend(&out, "Connection: close\r\n\r\n");
  if (HasBody(answer.status) && !head_only) out.append(answer.body);
  return out;
}

}  // namespace

// Attached to its session until that has an answer, or ends.
class Http1Session::Stream final : public HttpStream, public std::enable_shared_from_this<Stream> {
 public:
  Stream(Http1Session* session, std::shared_ptr<Mailbox> mailbox, std::shared_ptr<const Peer> peer)
      : session_(session), mailbox_(std::move(mailbox)), peer_(std::move(peer)) {}

  void Answer(HttpAnswer answer) override {
    auto held = std::make_shared<HttpAnswer>(std::move(answer));
    mailbox_->PostTask([self = shared_from_this(), held] {
      if (self->session_ != nullptr) self->session_->TakeAnswer(std::move(*held));
    });
  }

  void Await(Clock::duration patience, std::function<void(Unanswered)> end) override {
    std::unique_lock lock(mutex_);
    if (gone_) {
      lock.unlock();
      return end(Unanswered::kGone);
    }
    end_ = std::move(end);
    until_ = Clock::now() + patience;
    lock.unlock();
    mailbox_->PostTask([self = shared_from_this()] {
      if (self->session_ != nullptr) self->session_->touch_();
    });
  }

  const std::string& peer() const override { return peer_->address; }

  // The rest is for the loop's thread.
  Clock::time_point until() const {
    std::lock_guard lock(mutex_);
    return end_ == nullptr ? Clock::time_point::max() : until_;
  }
  void Expire() {
    if (const auto end = Take(false)) end(Unanswered::kInTime);
  }
  // From the session, unanswered.
  void Abandon() {
    session_ = nullptr;
    if (const auto end = Take(true)) end(Unanswered::kGone);
  }
  void Detach() {
    session_ = nullptr;
    Take(true);
  }

 private:
  std::function<void(Unanswered)> Take(bool gone) {
    std::lock_guard lock(mutex_);
    gone_ |= gone;
    return std::exchange(end_, nullptr);
  }

  Http1Session* session_;  // null: detached; for the loop's thread
  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<const Peer> peer_;
  mutable std::mutex mutex_;
  std::function<void(Unanswered)> end_;  // guarded by mutex_
  Clock::time_point until_{};            // likewise
  bool gone_ = false;                    // likewise
};

Http1Session::Http1Session(const HttpService& service, std::shared_ptr<Mailbox> mailbox,
                           std::shared_ptr<const Peer> peer, Counts* counts, std::function<void()> touch,
                           Clock::time_point now)
    : service_(service),
      mailbox_(std::move(mailbox)),
      peer_(std::move(peer)),
      counts_(counts),
      touch_(std::move(touch)),
      since_(now),
      parser_(std::make_unique<HttpParser>(service.limits)) {}

Http1Session::~Http1Session() {
  if (opened_) ++counts_->streams_closed;
  if (stream_ != nullptr) std::exchange(stream_, nullptr)->Abandon();
  NoteHeld(0);
}

Standing Http1Session::standing() const {
  if (peer_->tls != nullptr && !peer_->tls->uris.empty()) return Standing::kProven;
  return stage_ == Stage::kAnswering ? Standing::kHeard : Standing::kSilent;
}

void Http1Session::Receive(std::string_view bytes, Clock::time_point) {
  counts_->bytes_received += bytes.size();
  if (stage_ == Stage::kAnswering && (passed_over_ += bytes.size()) > kMostPassedOver)
    return Fail("more than a request");
  if (stage_ != Stage::kReading) return;
  const HttpParser::State state = parser_->Take(bytes);
  NoteHeld(parser_->held());
  switch (state) {
    case HttpParser::State::kHead:
      return;
    case HttpParser::State::kBody:
      if (HoldsTooMuch()) return Refuse(503);
      if (!continued_ && parser_->WantsContinue()) interim_ = kContinue.size();
      continued_ = true;
      return;
    case HttpParser::State::kWhole:
      return HoldsTooMuch() ? Refuse(503) : Open();
    case HttpParser::State::kBodyTooLarge:
      return Refuse(413);
    case HttpParser::State::kHeadTooLarge:
      return Fail("head");
    case HttpParser::State::kWrong:
      return Refuse(400);
  }
}

void Http1Session::Open() {
  stage_ = Stage::kAnswering;
  opened_ = true;
  ++counts_->streams_opened;
  ++counts_->messages_received;
  HttpRequest request = std::move(parser_->request());
  parser_ = nullptr;
  head_only_ = request.method == "HEAD";
  stream_ = std::make_shared<Stream>(this, mailbox_, peer_);
  service_.open(std::move(request), stream_);
}

// What is no request, or one too many: the rest of it is passed over.
void Http1Session::Refuse(int status) {
  HttpRequest request = std::move(parser_->request());
  parser_ = nullptr;
  request.body.clear();
  head_only_ = request.method == "HEAD";
  NoteHeld(0);
  TakeAnswer(service_.refuse(request, status));
}

void Http1Session::TakeAnswer(HttpAnswer answer) {
  if (stage_ > Stage::kAnswering) return;
  if (stream_ != nullptr) std::exchange(stream_, nullptr)->Detach();
  // What others hold is no reason not to answer anybody.
  if (service_.held.load() - held_ + answer.body.size() > service_.limits.max_held && !answer.body.empty() &&
      service_.held.load() > held_)
    answer = service_.refuse({}, 503);
  out_ = Text(answer, head_only_);
  NoteHeld(out_.capacity());
  stage_ = Stage::kSending;
  touch_();
}

void Http1Session::Produce(size_t most, Batch* batch) {
  if (interim_ > 0) {
    batch->Copy(kContinue.data(), kContinue.size());
    interim_unwritten_ += std::exchange(interim_, 0);
  }
  if (stage_ != Stage::kSending) return;
  const std::string_view part = std::string_view(out_).substr(produced_, most);
  if (part.empty()) return;
  batch->Refer(part);
  produced_ += part.size();
}

void Http1Session::Written(size_t bytes) {
  counts_->bytes_sent += bytes;
  const size_t interim = std::min(bytes, interim_unwritten_);
  interim_unwritten_ -= interim;
  written_ += bytes - interim;
  if (stage_ != Stage::kSending || written_ < out_.size()) return;
  ++counts_->messages_sent;
  stage_ = Stage::kDone;
}

Clock::time_point Http1Session::Check(Clock::time_point now) {
  Clock::time_point next = end_;
  if (end_ <= now) Fail("shutdown");
  if (stage_ == Stage::kReading) {
    const bool head = parser_->state() == HttpParser::State::kHead;
    const auto due = since_ + (head ? service_.limits.head_patience : service_.limits.request_patience);
    if (due <= now) Fail(head ? "no request" : "slow request");
    next = std::min<Clock::time_point>(next, due);
  }
  if (stage_ == Stage::kAnswering && stream_ != nullptr) {
    const Clock::time_point until = stream_->until();
    if (until > now) return std::min(next, until);
    const auto stream = stream_;  // it may be answered here
    stream->Expire();
  }
  return next;
}

void Http1Session::End(Clock::time_point, Clock::time_point end) {
  if (stage_ == Stage::kReading) return Fail("shutdown");
  end_ = end;
}

void Http1Session::Fail(std::string_view reason) {
  http_log.Debug("{} is cut off: {}", peer_->address, reason);
  failure_ = reason;
  stage_ = Stage::kDone;
  cut_ = true;
  if (stream_ != nullptr) std::exchange(stream_, nullptr)->Abandon();
  NoteHeld(0);
}

void Http1Session::NoteHeld(size_t held) {
  service_.held.fetch_add(held - held_);  // wraps where it is less
  held_ = held;
}

}  // namespace fairlead::transport
