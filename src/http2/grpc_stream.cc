#include "http2/grpc_stream.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "http2/http2_bytes.h"
#include "http2/output.h"
#include "http2/session.h"

namespace fairlead::http2 {
namespace {

// grpc-status, and grpc-message where there is one.
class StatusFields {
 public:
  explicit StatusFields(const absl::Status& status)
      : code_(StrCat(static_cast<int>(status.code()))), message_(EncodeMessage(FromAbsl(status.message()))) {}
  void AddTo(std::vector<nghttp2_nv>* fields) const {
    fields->push_back(Field("grpc-status", code_));
    if (!message_.empty()) fields->push_back(Field("grpc-message", message_));
  }

 private:
  const std::string code_, message_;
};

}  // namespace

GrpcStream::GrpcStream(Session* session, int32_t id, std::shared_ptr<Mailbox> mailbox,
                       std::shared_ptr<const Peer> peer)
    : Http2Stream(session, id), mailbox_(std::move(mailbox)), peer_(std::move(peer)) {}

// A handler that asks for the next message inside of OnMessage spares its loop the way by the mailbox.
void GrpcStream::Read() {
  if (mailbox_->OnLoop() && pumping_) {
    reading_ = true;
  } else {
    mailbox_->Post({Command::Kind::kRead, shared_from_this()});
  }
}

void GrpcStream::Send(std::vector<Slice> message) {
  mailbox_->Post({Command::Kind::kSend, shared_from_this(), std::move(message)});
}

void GrpcStream::Close(const absl::Status& status) {
  mailbox_->Post({Command::Kind::kClose, shared_from_this(), {}, status});
}

void GrpcStream::Abort() { mailbox_->Post({Command::Kind::kAbort, shared_from_this()}); }

std::optional<std::string> GrpcStream::Metadata(std::string_view name) const {
  return request_ == nullptr ? std::nullopt : request_->Metadata(name);
}

void GrpcStream::NoteIdentity() {
  if (!mailbox_->OnLoop()) return mailbox_->Post({Command::Kind::kProven, shared_from_this()});
  if (session_ != nullptr) session_->NoteProven();
}

void GrpcStream::Do(Command command) {
  if (session_ == nullptr) return;
  session_->Touch();
  switch (command.kind) {
    case Command::Kind::kRead:
      return DoRead();
    case Command::Kind::kSend:
      return DoSend(std::move(command.message));
    case Command::Kind::kClose:
      return DoClose(std::move(command.status));
    case Command::Kind::kAbort:
      return DoAbort();
    case Command::Kind::kProven:
      return session_->NoteProven();
  }
}

void GrpcStream::Open(const RequestFields& request, const StreamOpener& open, size_t max_message_size) {
  reader_.Start(max_message_size, request.Compressed());
  request_ = &request;
  handler_ = open(shared_from_this());
  request_ = nullptr;
}

void GrpcStream::Refuse(const RequestFields::Refusal& refusal) {
  if (refusal.http_status == 200) return DoClose(refusal.status);
  closing_ = headers_ = trailers_ = true;
  const std::string code = StrCat(refusal.http_status);
  const nghttp2_nv fields[] = {Field(":status", code)};
  nghttp2_submit_response(session_->http2(), id_, fields, 1, nullptr);
}

void GrpcStream::TakeData(std::string_view bytes) {
  if (closing_) return OpenWindow(session_->window() / 2);
  Pump(bytes);
}

void GrpcStream::TakeEnd() {
  ended_ = true;
  if (!closing_) FinishReading();
}

Clock::time_point GrpcStream::Expire() {
  if (closing_) return Clock::time_point::max();
  const Clock::time_point now = session_->now();
  if (deadline_ <= now) {
    DoClose(absl::DeadlineExceededError("the call's deadline has passed"));
  } else if (!heard_ && reading_) {
    DoClose(absl::DeadlineExceededError(
        StrCat("no message came within ", std::chrono::ceil<std::chrono::seconds>(patience_).count(), "s")));
  } else {
    // While nobody asks for a message, the client may have sent one.
    return heard_ ? deadline_ : std::min(deadline_, now + patience_);
  }
  return Clock::time_point::max();
}

void GrpcStream::DoRead() {
  if (closing_) return;
  reading_ = true;
  Pump({});
}

// Gives the handler what it asks for of the unread bytes and these. REQUIRES: not closing.
void GrpcStream::Pump(std::string_view bytes) {
  std::string before;
  before.swap(unread_);
  if (!before.empty()) {
    before.append(bytes);
    bytes = before;
  }
  const auto self = shared_from_this();
  pumping_ = true;
  while (reading_ && !bytes.empty() && session_ != nullptr && !closing_) {
    const auto found = reader_.Take(&bytes);
    if (found == MessageReader::Found::kNothing) break;
    if (found == MessageReader::Found::kError) {
      DoClose(reader_.error());
      break;
    }
    reading_ = false;
    heard_ = true;
    session_->NoteMessageReceived();
    handler_->OnMessage(reader_.message());
    reader_.Release();
    if (session_ != nullptr) EndClaim();
  }
  pumping_ = false;
  if (session_ == nullptr) return;
  if (closing_) return OpenWindow(session_->window() / 2);
  unread_ = bytes;
  EndTaking();
  NoteHeld();
  if (ended_) FinishReading();
}

// After bytes were taken: the client's window is opened by them, unless the rest of a large message has to
// wait. Where the window is wide enough for the rest that can wait, too, for the next message to the client,
// which takes the frame along: a packet of its own would cost as much as the client's message did.
void GrpcStream::EndTaking() {
  ReadBudget& budget = session_->budget();
  const size_t partial = reader_.PartialSize(), window = session_->window();
  if (partial > window && !budget.Claims(*this)) budget.Claim(this, partial, session_->now());
  const bool narrow = session_->Untold(id_) + reader_.Missing() > window - window / 8;
  if (narrow) OpenWindow(window / 2);
}

// Tells the client of what was taken, if it is so much, unless the stream waits for the budget. All that is
// not unread was taken: frames' padding, too. REQUIRES: least > 0, and not pumping, or closing.
void GrpcStream::OpenWindow(size_t least) {
  const size_t untold = session_->Untold(id_), taken = untold - std::min(untold, unread_.size());
  if (taken >= least && !session_->budget().Waits(*this)) session_->OpenWindow(id_, taken);
}

void GrpcStream::OnAdmitted() {
  OpenWindow(1);
  session_->Touch();
}

// The client is told by what comes next. REQUIRES: attached.
void GrpcStream::EndClaim() {
  if (session_->budget().Claims(*this)) session_->budget().Release(this);
}

// At the end of what the client says, a handler that waits for more learns so by the stream's end.
void GrpcStream::FinishReading() {
  if (!reading_ || !unread_.empty()) return;
  DoClose(reader_.Midway() ? absl::InternalError("the request ends within a message") : absl::OkStatus());
}

void GrpcStream::DropUnread() {
  std::string().swap(unread_);
  reader_.Release();
  EndClaim();
  OpenWindow(session_->window() / 2);
  NoteHeld();
}

void GrpcStream::NoteHeld() {
  const size_t held = MessageReader::HeapBytes(unread_) + reader_.Held();
  const bool more = held > held_;
  session_->NoteHeld(held_, held);
  held_ = held;
  if (more && !closing_ && session_->HoldsTooMuch())
    DoClose(absl::ResourceExhaustedError("the connection has sent more than is being read"));
}

void GrpcStream::DoSend(std::vector<Slice> message) {
  if (closing_) return;
  size_t size = 0;
  for (const Slice& slice : message) size += slice.bytes.size();
  prefix_ = MessagePrefix(size);
  prefix_left_ = static_cast<uint8_t>(prefix_.size());
  message_ = std::move(message);
  slice_ = at_ = 0;
  left_ = prefix_left_ + size;
  sending_ = true;
  if (!headers_) SubmitHeaders();
  OpenWindow(session_->window() / 16);
  Resume();
}

void GrpcStream::DoClose(absl::Status status) {
  if (closing_) return;
  closing_ = true;
  final_ = std::move(status);
  DropUnread();
  if (!headers_) return SubmitTrailersOnly();
  Resume();
}

void GrpcStream::DoAbort() {
  nghttp2_submit_rst_stream(session_->http2(), NGHTTP2_FLAG_NONE, id_, NGHTTP2_CANCEL);
  session_->Remove(this);
}

void GrpcStream::Resume() {
  if (!std::exchange(deferred_, false)) return;
  nghttp2_session_resume_data(session_->http2(), id_);
}

void GrpcStream::SubmitHeaders() {
  headers_ = true;
  static const nghttp2_nv fields[] = {Field(":status", "200"), Field("content-type", "application/grpc")};
  nghttp2_data_provider provider = Session::DataProvider();
  nghttp2_submit_response(session_->http2(), id_, fields, 2, &provider);
}

void GrpcStream::SubmitTrailersOnly() {
  headers_ = trailers_ = true;
  const StatusFields status(final_);
  std::vector<nghttp2_nv> fields = {Field(":status", "200"), Field("content-type", "application/grpc")};
  status.AddTo(&fields);
  if (final_.code() == absl::StatusCode::kUnimplemented)
    fields.push_back(Field("grpc-accept-encoding", "identity, deflate, gzip"));
  nghttp2_submit_response(session_->http2(), id_, fields.data(), fields.size(), nullptr);
}

void GrpcStream::SubmitTrailers() {
  trailers_ = true;
  const StatusFields status(final_);
  std::vector<nghttp2_nv> fields;
  status.AddTo(&fields);
  nghttp2_submit_trailer(session_->http2(), id_, fields.data(), fields.size());
}

GrpcStream::Next GrpcStream::NextBytes(size_t most, size_t* size) {
  if (left_ > 0) {
    *size = std::min(most, left_);
    return Next::kBytes;
  }
  if (!closing_) {
    deferred_ = true;
    return Next::kWait;
  }
  if (!trailers_) SubmitTrailers();
  return Next::kTrailers;
}

void GrpcStream::Produce(size_t size, Batch* batch) {
  left_ -= size;
  if (prefix_left_ > 0) {
    const size_t part = std::min<size_t>(size, prefix_left_);
    batch->Copy(prefix_.end() - prefix_left_, part);
    prefix_left_ = static_cast<uint8_t>(prefix_left_ - part);
    size -= part;
  }
  while (size > 0) {
    const std::string_view rest = message_[slice_].bytes.substr(at_);
    const std::string_view part = rest.substr(0, size);
    batch->Refer(part);
    at_ += part.size();
    size -= part.size();
    if (part.size() == rest.size()) ++slice_, at_ = 0;
  }
  if (left_ == 0) session_->AwaitWritten(shared_from_this());
}

void GrpcStream::OnWritten(bool ok) {
  if (!std::exchange(sending_, false)) return;
  std::vector<Slice>().swap(message_);
  if (handler_ == nullptr) return;
  handler_->OnSent(ok);
  if (session_ == nullptr) std::exchange(handler_, nullptr)->OnClosed();
}

void GrpcStream::Detach() {
  if (held_ > 0) session_->NoteHeld(std::exchange(held_, 0), 0);
  EndClaim();
  const bool framed = sending_ && left_ == 0;
  if (sending_ && !framed) {
    // A part of the message may lie in what is not yet written.
    session_->KeepUntilWritten(std::move(message_));
    sending_ = false;
    if (handler_ != nullptr) handler_->OnSent(false);
  }
  session_ = nullptr;
  std::string().swap(unread_);
  reader_.Release();
  if (!framed && handler_ != nullptr) std::exchange(handler_, nullptr)->OnClosed();
}

}  // namespace fairlead::http2
