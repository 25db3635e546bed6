#include "http2/http1_session.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/strings.h"

namespace fairlead::http2 {
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

enum class Length { kKnown, kInChunks, kByEnd };

std::string Text(const HttpAnswer& answer, bool head_only, Length length) {
  std::string out = StrCat("HTTP/1.1 ", answer.status, " ", Reason(answer.status), "\r\n");
  for (const auto& [name, value] : answer.headers) StrAppend(&out, name, ": ", value, "\r\n");
  const bool body = HasBody(answer.status);
  if (body && length == Length::kKnown) StrAppend(&out, "Content-Length: ", answer.body.size(), "\r\n");
  if (body && length == Length::kInChunks) StrAppend(&out, "Transfer-Encoding: chunked\r\n");
  StrAppend(&out, "Connection: close\r\n\r\n");
  if (body && !head_only && length == Length::kKnown) out.append(answer.body);
  return out;
}

}  // namespace

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
  if (pending_ != nullptr) std::exchange(pending_, nullptr)->Abandon();
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
  ParsedRequest request = std::move(parser_->request());
  takes_chunks_ = parser_->TakesChunks();
  parser_ = nullptr;
  head_only_ = request.method == "HEAD";
  pending_ = std::make_shared<PendingAnswer>(this, mailbox_, peer_);
  service_.open(std::move(request), pending_);
}

// What is no request, or one too many: the rest of it is passed over.
void Http1Session::Refuse(int status) {
  ParsedRequest request = std::move(parser_->request());
  parser_ = nullptr;
  request.body.clear();
  head_only_ = request.method == "HEAD";
  NoteHeld(0);
  TakeAnswer(service_.refuse(request, status));
}

void Http1Session::TakeAnswer(HttpAnswer answer) {
  if (stage_ > Stage::kAnswering) return;
  if (pending_ != nullptr) std::exchange(pending_, nullptr)->Detach();
  // What others hold is no reason not to answer anybody.
  if (service_.held.load() - held_ + answer.body.size() > service_.limits.max_held && !answer.body.empty() &&
      service_.held.load() > held_)
    answer = service_.refuse({}, 503);
  whole_ = true;
  Queue(Text(answer, head_only_, Length::kKnown));
}

void Http1Session::BeginAnswer(HttpAnswer head) {
  if (stage_ > Stage::kAnswering) return;
  whole_ = head_only_ || !HasBody(head.status);
  in_chunks_ = takes_chunks_ && !whole_;
  Queue(Text(head, head_only_, takes_chunks_ ? Length::kInChunks : Length::kByEnd));
  if (!whole_ && !head.body.empty()) QueueChunk(head.body);
}

void Http1Session::TakeMore(std::string bytes) {
  if (stage_ != Stage::kSending || whole_) return;
  QueueChunk(bytes);
  if (unsent_ > service_.limits.max_unsent || HoldsTooMuch()) {
    Fail("an answer that is not read");
    touch_();
  }
}

void Http1Session::EndAnswer() {
  if (pending_ != nullptr) std::exchange(pending_, nullptr)->Detach();
  if (stage_ != Stage::kSending) return;
  if (in_chunks_) Queue("0\r\n\r\n");
  whole_ = true;
  if (out_.empty()) Written(0);
  touch_();
}

// Source: RFC 9112, 7.1
void Http1Session::QueueChunk(std::string_view bytes) {
  if (!in_chunks_) return Queue(std::string(bytes));
  char size[2 * sizeof(size_t)];
  const auto [end, error] = std::to_chars(std::begin(size), std::end(size), bytes.size(), 16);
  Queue(StrCat(std::string_view(size, static_cast<size_t>(end - size)), "\r\n", bytes, "\r\n"));
}

void Http1Session::Queue(std::string bytes) {
  unsent_ += bytes.size();
  out_.push_back(std::move(bytes));
  NoteHeld(unsent_);
  stage_ = Stage::kSending;
  touch_();
}

void Http1Session::Produce(size_t most, Batch* batch) {
  if (interim_ > 0) {
    batch->Copy(kContinue.data(), kContinue.size());
    interim_unwritten_ += std::exchange(interim_, 0);
  }
  if (stage_ != Stage::kSending) return;
  size_t at = produced_;
  for (const std::string& bytes : out_) {
    const std::string_view part = std::string_view(bytes).substr(std::min(at, bytes.size()), most);
    at -= std::min(at, bytes.size());
    if (part.empty()) continue;
    batch->Refer(part);
    produced_ += part.size();
    most -= part.size();
    if (most == 0) return;
  }
}

void Http1Session::Written(size_t bytes) {
  counts_->bytes_sent += bytes;
  const size_t interim = std::min(bytes, interim_unwritten_);
  interim_unwritten_ -= interim;
  written_ += bytes - interim;
  while (!out_.empty() && written_ >= out_.front().size()) {
    const size_t size = out_.front().size();
    written_ -= size;
    produced_ -= size;
    unsent_ -= size;
    out_.pop_front();
  }
  if (stage_ != Stage::kSending) return;
  NoteHeld(unsent_);
  if (!out_.empty() || !whole_) return;
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
  if (stage_ == Stage::kAnswering && pending_ != nullptr) {
    const Clock::time_point until = pending_->until();
    if (until > now) return std::min(next, until);
    const auto pending = pending_;  // it may be answered here
    pending->Expire();
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
  if (pending_ != nullptr) std::exchange(pending_, nullptr)->Abandon();
  NoteHeld(0);
}

void Http1Session::NoteHeld(size_t held) {
  service_.held.fetch_add(held - held_);  // wraps where it is less
  held_ = held;
}

}  // namespace fairlead::http2
