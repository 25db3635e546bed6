#ifndef FAIRLEAD_HTTP2_HTTP2_CLIENT_FAKE_H_
#define FAIRLEAD_HTTP2_HTTP2_CLIENT_FAKE_H_

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http2/http2_bytes.h"

// For tests.
namespace fairlead::http2 {

// A message as gRPC frames it.
inline std::string Framed(const std::string& body, char flag = 0) {
  const auto size = static_cast<uint32_t>(body.size());
  std::string out(1, flag);
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(size >> shift));
  return out + body;
}

// A frame of any kind, right or wrong.
inline std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
  const auto size = static_cast<uint32_t>(payload.size());
  std::string out;
  for (int shift = 16; shift >= 0; shift -= 8) out.push_back(static_cast<char>(size >> shift));
  out.push_back(static_cast<char>(type));
  out.push_back(static_cast<char>(flags));
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(stream >> shift));
  return out + payload;
}

// An HTTP/2 client without a socket: what it has to say is in Output(), what it hears goes to Input().
class Http2Client {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;
  struct Heard {
    std::map<std::string, std::string> fields;  // of headers and trailers
    std::string data;                           // taken only as far as the window says
    bool closed = false;
    uint32_t error = 0;
  };

  // `window`: of a stream. `reads`: windows open again as data come.
  explicit Http2Client(int32_t window = 65535, bool reads = true) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_select_padding_callback(callbacks, Padded);
    nghttp2_option* options = nullptr;
    nghttp2_option_new(&options);
    if (!reads) nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_session_client_new2(&session_, callbacks, this, options);
    nghttp2_option_del(options);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<uint32_t>(window)}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 1);
    if (window > 65535) nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, window);
  }
  ~Http2Client() { nghttp2_session_del(session_); }
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  // Begins a call that goes on until End; gives its stream.
  int32_t Call(const std::string& path, const Fields& more = {}) {
    Fields fields = {{":method", "POST"},
                     {":scheme", "http"},
                     {":path", path},
                     {":authority", "test"},
                     {"content-type", "application/grpc"},
                     {"te", "trailers"}};
    for (const auto& [name, value] : more) {
      bool replaced = false;
      for (auto& [known, old] : fields) {
        if (known == name) old = value, replaced = true;
      }
      if (!replaced) fields.emplace_back(name, value);
    }
    std::vector<nghttp2_nv> all;
    all.reserve(fields.size());
    for (const auto& [name, value] : fields) all.push_back(Field(name, value));
    nghttp2_data_provider provider{};
    provider.read_callback = Read;
    return nghttp2_submit_request(session_, nullptr, all.data(), all.size(), &provider, nullptr);
  }
  void Say(int32_t stream, const std::string& bytes) {
    to_say_[stream].bytes += bytes;
    nghttp2_session_resume_data(session_, stream);
  }
  void End(int32_t stream) {
    to_say_[stream].ends = true;
    nghttp2_session_resume_data(session_, stream);
  }
  void Reset(int32_t stream) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
  }
  // Frames get so much padding from now on.
  void Pad(size_t padding) { padding_ = padding; }
  void Ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }
  // Lets the server send so much more on a stream; as reading what has come does.
  void Consume(int32_t stream, size_t bytes) { nghttp2_session_consume(session_, stream, bytes); }

  std::string Output() {
    std::string out;
    const uint8_t* data = nullptr;
    while (true) {
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size <= 0) return out;
      out.append(Text(data, static_cast<size_t>(size)));
    }
  }
  // False: the server broke HTTP/2's rules.
  bool Input(std::string_view bytes) {
    return nghttp2_session_mem_recv(session_, Bytes(bytes), bytes.size()) ==
           static_cast<ssize_t>(bytes.size());
  }
  const Heard& Of(int32_t stream) { return heard_[stream]; }
  std::string Status(int32_t stream) { return heard_[stream].fields["grpc-status"]; }
  int goaways() const { return goaways_; }
  uint32_t goaway_error() const { return goaway_error_; }
  const std::string& goaway_text() const { return goaway_text_; }
  int pongs() const { return pongs_; }
  int pings() const { return pings_; }
  uint64_t window_updates() const { return window_updates_; }

 private:
  struct ToSay {
    std::string bytes;
    bool ends = false;
  };
  static Http2Client& Self(void* user) { return *static_cast<Http2Client*>(user); }
  static ssize_t Read(nghttp2_session*, int32_t stream, uint8_t* to, size_t most, uint32_t* flags,
                      nghttp2_data_source*, void* user) {
    ToSay& say = Self(user).to_say_[stream];
    const size_t part = say.bytes.copy(reinterpret_cast<char*>(to), most);
    say.bytes.erase(0, part);
    if (say.bytes.empty() && say.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (part == 0 && !say.ends) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(part);
  }
  static ssize_t Padded(nghttp2_session*, const nghttp2_frame* frame, size_t most, void* user) {
    return static_cast<ssize_t>(std::min(most, frame->hd.length + Self(user).padding_));
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t size, uint8_t, void* user) {
    Self(user).heard_[frame->hd.stream_id].fields[std::string(Text(name, name_size))] = Text(value, size);
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size, void* user) {
    Self(user).heard_[stream].data.append(Text(data, size));
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* user) {
    Self(user).heard_[stream].closed = true;
    Self(user).heard_[stream].error = error;
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Client& self = Self(user);
    if (frame->hd.type == NGHTTP2_PING)
      ++((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0 ? self.pongs_ : self.pings_);
    if (frame->hd.type == NGHTTP2_WINDOW_UPDATE) ++self.window_updates_;
    if (frame->hd.type != NGHTTP2_GOAWAY) return 0;
    ++self.goaways_;
    self.goaway_error_ = frame->goaway.error_code;
    self.goaway_text_ = Text(frame->goaway.opaque_data, frame->goaway.opaque_data_len);
    return 0;
  }

  nghttp2_session* session_ = nullptr;
  std::map<int32_t, ToSay> to_say_;
  std::map<int32_t, Heard> heard_;
  int goaways_ = 0, pongs_ = 0, pings_ = 0;
  uint64_t window_updates_ = 0;
  size_t padding_ = 0;
  uint32_t goaway_error_ = 0;
  std::string goaway_text_;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_HTTP2_CLIENT_FAKE_H_
