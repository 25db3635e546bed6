#include "http2/http2_exchange.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "http2/http2_bytes.h"
#include "http2/output.h"
#include "http2/session.h"
#include "http2/stream.h"

namespace fairlead::http2 {
namespace {

// Source: RFC 9113, 8.2.2
bool IsOfConnection(std::string_view name) {
  return name == "connection" || name == "keep-alive" || name == "proxy-connection" ||
         name == "transfer-encoding" || name == "upgrade" || name == "content-length";
}

bool MayHaveBody(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

Http2Exchange::Http2Exchange(Session* session, int32_t id, const HttpService& service,
                             std::shared_ptr<Mailbox> mailbox, std::shared_ptr<const Peer> peer)
    : Http2Stream(session, id), service_(service), mailbox_(std::move(mailbox)), peer_(std::move(peer)) {}

Http2Exchange::~Http2Exchange() { service_.held.fetch_sub(held_); }

void Http2Exchange::Open(const RequestFields& request) {
  request_ = request.Plain();
  head_only_ = request_.method == "HEAD";
  for (const auto& [name, value] : request_.headers) request_bytes_ += name.size() + value.size();
  NoteHeld();
  if (request.TooLarge()) return Refuse(431);
  if (request_.method.empty() || request_.target.empty() || request_.method == "CONNECT") return Refuse(400);
  if (HoldsTooMuch()) Refuse(503);
}

void Http2Exchange::TakeData(std::string_view bytes) {
  // The rest of a request that was refused is passed over.
  const size_t untold = session_->Untold(id_);
  if (untold >= session_->window() / 2) session_->OpenWindow(id_, untold);
  if (stage_ != Stage::kReading) return;
  if (bytes.size() > service_.limits.max_body - request_.body.size()) return Refuse(413);
  request_.body.append(bytes);
  NoteHeld();
  if (HoldsTooMuch()) Refuse(503);
}

void Http2Exchange::TakeEnd() {
  if (stage_ != Stage::kReading) return;
  stage_ = Stage::kAnswering;
  session_->NoteOpened(this);
  session_->NoteMessageReceived();
  session_->Rearm(this, Clock::time_point::max());
  request_bytes_ += request_.body.size();
  pending_ = std::make_shared<PendingAnswer>(this, mailbox_, peer_);
  service_.open(std::exchange(request_, {}), pending_);
}

// Inside of the session's Check, which arms it again.
Clock::time_point Http2Exchange::Expire() {
  if (stage_ == Stage::kReading) {
    Refuse(408);
  } else if (pending_ != nullptr && pending_->until() <= session_->now()) {
    const std::shared_ptr<PendingAnswer> pending = pending_;
    pending->Expire();
  }
  return pending_ == nullptr ? Clock::time_point::max() : pending_->until();
}

void Http2Exchange::NoteAwaited() {
  if (session_ != nullptr && pending_ != nullptr) session_->Rearm(this, pending_->until());
}

void Http2Exchange::EndWithConnection(const absl::Status&) {
  if (stage_ != Stage::kSending) Refuse(503);
  whole_ = true;
  Resume();
}

void Http2Exchange::Detach() {
  if (pending_ != nullptr) std::exchange(pending_, nullptr)->Abandon();
  // A part of the answer may lie in what is not yet written.
  std::vector<Slice> slices;
  for (const auto& bytes : unsent_) slices.push_back({bytes, *bytes});
  if (!slices.empty()) session_->KeepUntilWritten(std::move(slices));
  unsent_.clear();
  left_ = request_bytes_ = 0;
  request_ = {};
  NoteHeld();
  session_ = nullptr;
}

void Http2Exchange::Refuse(int status) {
  ParsedRequest request = std::move(request_);
  request.body.clear();
  TakeAnswer(service_.refuse(request, status));
}

void Http2Exchange::TakeAnswer(HttpAnswer answer) {
  if (session_ == nullptr || stage_ == Stage::kSending) return;
  if (pending_ != nullptr) std::exchange(pending_, nullptr)->Detach();
  request_bytes_ = 0;
  request_ = {};
  NoteHeld();
  // What others hold is no reason not to answer anybody.
  const size_t others = service_.held.load();
  if (!answer.body.empty() && others > 0 && others + answer.body.size() > service_.limits.max_held)
    answer = service_.refuse({}, 503);
  whole_ = true;
  Submit(std::move(answer), /*with_length=*/true);
}

void Http2Exchange::BeginAnswer(HttpAnswer head) {
  if (session_ == nullptr || stage_ == Stage::kSending) return;
  whole_ = head_only_ || !MayHaveBody(head.status);
  Submit(std::move(head), /*with_length=*/false);
}

void Http2Exchange::Submit(HttpAnswer answer, bool with_length) {
  stage_ = Stage::kSending;
  session_->NoteAnswered();
  const std::string status = StrCat(answer.status), length = StrCat(answer.body.size());
  std::vector<std::pair<std::string, std::string_view>> texts = {{":status", status}};
  for (const auto& [name, value] : answer.headers) {
    std::string lower = AsciiLower(name);
    if (!IsOfConnection(lower)) texts.emplace_back(std::move(lower), value);
  }
  if (with_length && MayHaveBody(answer.status)) texts.emplace_back("content-length", length);
  std::vector<nghttp2_nv> fields;
  for (const auto& [name, value] : texts) fields.push_back(Field(name, value));
  if (!head_only_ && MayHaveBody(answer.status)) Queue(std::move(answer.body));
  const bool ends = whole_ && left_ == 0;
  nghttp2_data_provider provider = Session::DataProvider();
  nghttp2_submit_response(session_->http2(), id_, fields.data(), fields.size(), ends ? nullptr : &provider);
  session_->Touch();
}

void Http2Exchange::TakeMore(std::string bytes) {
  if (session_ == nullptr || whole_) return;
  Queue(std::move(bytes));
  if (left_ <= service_.limits.max_unsent && !HoldsTooMuch()) return Resume();
  Session* const session = session_;
  nghttp2_submit_rst_stream(session->http2(), NGHTTP2_FLAG_NONE, id_, NGHTTP2_CANCEL);
  session->Touch();
  session->Remove(this);  // which may be the end of this
}

void Http2Exchange::EndAnswer() {
  if (session_ == nullptr) return;
  if (pending_ != nullptr) std::exchange(pending_, nullptr)->Detach();
  whole_ = true;
  Resume();
}

void Http2Exchange::Queue(std::string bytes) {
  if (bytes.empty()) return;
  left_ += bytes.size();
  unsent_.push_back(std::make_shared<const std::string>(std::move(bytes)));
  NoteHeld();
}

void Http2Exchange::Resume() {
  if (session_ == nullptr || !std::exchange(deferred_, false)) return;
  nghttp2_session_resume_data(session_->http2(), id_);
  session_->Touch();
}

Http2Stream::Next Http2Exchange::NextBytes(size_t most, size_t* size) {
  if (left_ > 0) {
    *size = std::min(most, left_);
    return Next::kBytes;
  }
  if (whole_) return Next::kEnd;
  deferred_ = true;
  return Next::kWait;
}

void Http2Exchange::Produce(size_t size, Batch* batch) {
  left_ -= size;
  while (size > 0) {
    const auto& first = unsent_.front();
    const std::string_view part = std::string_view(*first).substr(at_, size);
    batch->Refer(part);
    at_ += part.size();
    size -= part.size();
    if (at_ < first->size()) continue;
    session_->KeepUntilWritten({{first, *first}});
    unsent_.pop_front();
    at_ = 0;
  }
  NoteHeld();
}

void Http2Exchange::NoteHeld() {
  size_t held = request_bytes_ + request_.body.size();
  if (!unsent_.empty()) held += left_ + at_;
  service_.held.fetch_add(held - held_);  // wraps where it is less
  held_ = held;
}

}  // namespace fairlead::http2
