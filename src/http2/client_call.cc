#include "http2/client_call.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "http2/http2_bytes.h"
#include "http2/request.h"

namespace fairlead::http2 {
namespace {

int Number(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// What an answer means that is no gRPC.
absl::StatusCode CodeOf(int http_status) {
  switch (http_status) {
    case 400:
      return absl::StatusCode::kInternal;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kUnknown;
  }
}

}  // namespace

// nghttp2's calls; what they return tells it to go on.
struct ClientCall::Callbacks {
  static ClientCall& Of(void* user) { return *static_cast<ClientCall*>(user); }

  static int Header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t size, uint8_t, void* user) {
    if (frame->hd.stream_id == Of(user).stream_) Of(user).TakeField(Text(name, name_size), Text(value, size));
    return 0;
  }
  // A server may end a call that the client has not ended, which keeps the stream open.
  static int Frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    ClientCall& call = Of(user);
    const bool ends = frame->hd.stream_id == call.stream_ &&
                      (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 &&
                      (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA);
    if (ends) call.End(call.Said());
    return 0;
  }
  static int Data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* user) {
    if (id == Of(user).stream_) Of(user).TakeData(Text(data, size));
    return 0;
  }
  static int StreamClosed(nghttp2_session*, int32_t id, uint32_t code, void* user) {
    ClientCall& call = Of(user);
    if (id != call.stream_ || call.ended_) return 0;
    if (!call.problem_.empty()) call.End(absl::UnavailableError(StrCat("HTTP/2: ", call.problem_)));
    call.End(call.grpc_status_ >= 0 ? call.Said()
                                    : absl::UnavailableError(StrCat("the control plane ended the stream (",
                                                                    nghttp2_http2_strerror(code), ")")));
    return 0;
  }
  static int Problem(nghttp2_session*, int, const char* text, size_t size, void* user) {
    Of(user).problem_.assign(text, size);
    return 0;
  }
  static ssize_t ReadData(nghttp2_session*, int32_t, uint8_t* to, size_t most, uint32_t* flags,
                          nghttp2_data_source*, void* user) {
    ClientCall& call = Of(user);
    const size_t given = call.Give(to, most);
    const bool all = call.finished_ && call.all_sent();
    if (all) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return given == 0 && !all ? ssize_t{NGHTTP2_ERR_DEFERRED} : static_cast<ssize_t>(given);
  }

  static nghttp2_session_callbacks* All() {
    nghttp2_session_callbacks* all = nullptr;
    nghttp2_session_callbacks_new(&all);
    nghttp2_session_callbacks_set_on_header_callback(all, Header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(all, Frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, Data);
    nghttp2_session_callbacks_set_on_stream_close_callback(all, StreamClosed);
    nghttp2_session_callbacks_set_error_callback2(all, Problem);
    return all;
  }
  static nghttp2_option* Options() {
    nghttp2_option* options = nullptr;
    nghttp2_option_new(&options);
    nghttp2_option_set_no_auto_window_update(options, 1);
    return options;
  }
};

ClientCall::ClientCall(ClientCallOptions options, std::function<void(std::string)> on_message)
    : options_(std::move(options)), on_message_(std::move(on_message)) {
  static nghttp2_session_callbacks* const callbacks = Callbacks::All();
  static nghttp2_option* const http2_options = Callbacks::Options();
  nghttp2_session_client_new2(&http2_, callbacks, this, http2_options);
  reader_.Start(options_.max_message_size, /*compressed=*/false);
  Greet();
}

ClientCall::~ClientCall() { nghttp2_session_del(http2_); }

void ClientCall::Greet() {
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.window}};
  nghttp2_submit_settings(http2_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(http2_, NGHTTP2_FLAG_NONE, 0, static_cast<int32_t>(options_.window));
  std::vector<nghttp2_nv> fields = {Field(":method", "POST"),
                                    Field(":scheme", options_.tls ? "https" : "http"),
                                    Field(":path", options_.path),
                                    Field(":authority", options_.authority),
                                    Field("content-type", "application/grpc"),
                                    Field("te", "trailers"),
                                    Field("user-agent", "fairlead")};
  for (const auto& [name, value] : options_.metadata) fields.push_back(Field(name, value));
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::ReadData;
  stream_ = nghttp2_submit_request(http2_, nullptr, fields.data(), fields.size(), &provider, nullptr);
}

void ClientCall::Receive(std::string_view bytes) {
  if (ended_) return;
  const ssize_t taken = nghttp2_session_mem_recv(http2_, Bytes(bytes), bytes.size());
  if (taken < 0) End(absl::UnavailableError(StrCat("HTTP/2: ", nghttp2_strerror(static_cast<int>(taken)))));
}

void ClientCall::TakeField(std::string_view name, std::string_view value) {
  if (name == ":status") http_status_ = Number(value);
  if (name == "grpc-status") grpc_status_ = Number(value);
  if (name == "grpc-message") message_ = DecodeMessage(value);
}

void ClientCall::TakeData(std::string_view bytes) {
  const size_t size = bytes.size();
  while (!bytes.empty() && !ended_ && http_status_ == 200) {
    const auto found = reader_.Take(&bytes);
    if (found == MessageReader::Found::kError) End(reader_.error());
    if (found != MessageReader::Found::kMessage) continue;
    std::string whole(reader_.message());
    reader_.Release();
    undone_ += whole.size();
    on_message_(std::move(whole));
  }
  if (undone_ > options_.max_undone) {
    withheld_ += size;
  } else {
    nghttp2_session_consume(http2_, stream_, size);
  }
}

void ClientCall::Done(size_t bytes) {
  undone_ -= std::min(bytes, undone_);
  if (undone_ <= options_.max_undone) nghttp2_session_consume(http2_, stream_, std::exchange(withheld_, 0));
}

void ClientCall::Send(std::string_view message) {
  const auto prefix = MessagePrefix(message.size());
  to_send_.append(prefix.begin(), prefix.end());
  to_send_ += message;
  nghttp2_session_resume_data(http2_, stream_);
}

void ClientCall::Finish() {
  if (std::exchange(finished_, true)) return;
  nghttp2_session_resume_data(http2_, stream_);
}

size_t ClientCall::Give(uint8_t* to, size_t most) {
  const size_t given = to_send_.copy(reinterpret_cast<char*>(to), most, at_);
  at_ += given;
  if (all_sent()) {
    std::string().swap(to_send_);
    at_ = 0;
  }
  return given;
}

void ClientCall::Produce(size_t most, std::string* out) {
  while (out->size() < most) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(http2_, &bytes);
    if (size < 0) End(absl::UnavailableError(StrCat("HTTP/2: ", nghttp2_strerror(static_cast<int>(size)))));
    if (size <= 0) break;
    out->append(Text(bytes, static_cast<size_t>(size)));
  }
  // The last word was a GOAWAY, to a server that breaks the rules.
  if (nghttp2_session_want_read(http2_) == 0)
    End(absl::UnavailableError("HTTP/2: the server breaks its rules"));
}

void ClientCall::End(absl::Status status) {
  if (std::exchange(ended_, true)) return;
  status_ = std::move(status);
}

absl::Status ClientCall::Said() const {
  if (grpc_status_ >= 0) return {static_cast<absl::StatusCode>(grpc_status_), message_};
  return {CodeOf(http_status_),
          StrCat("the control plane's answer is no gRPC (HTTP status ", http_status_, ")")};
}

}  // namespace fairlead::http2
