#include <nghttp2/nghttp2.h>

#include "http2/http2_bytes.h"
#include "http2/session.h"

// How nghttp2 speaks to a session.
namespace fairlead::http2 {
namespace {

// Updates of windows that a frame with data may bring about.
constexpr float kUpdatesPerData = 4;

}  // namespace

// nghttp2's calls; what they return tells it to go on.
struct Session::Callbacks {
  static Session& Of(void* user) { return *static_cast<Session*>(user); }
  static Http2Stream* Stream(nghttp2_session* http2, int32_t id) {
    return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(http2, id));
  }

  static int BeginFrame(nghttp2_session*, const nghttp2_frame_hd* frame, void* user) {
    Of(user).OnBeginFrame(*frame);
    return 0;
  }
  static int BeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Of(user).OnBeginHeaders(*frame);
    return 0;
  }
  static int Header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t size, uint8_t, void* user) {
    Session& session = Of(user);
    const bool of_request = frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    const bool taken = session.TakeField(of_request, Text(name, name_size), Text(value, size));
    return taken ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  static int Frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Of(user).OnFrame(*frame);
    return 0;
  }
  static int InvalidFrame(nghttp2_session*, const nghttp2_frame*, int, void* user) {
    Of(user).Count(kInvalid);
    return 0;
  }
  static int Data(nghttp2_session* http2, uint8_t, int32_t id, const uint8_t* data, size_t size, void* user) {
    // What is held of streams has a limit of its own: streams that are not read must not stop the others.
    nghttp2_session_consume_connection(http2, size);
    Of(user).frame_data_ += size;
    Http2Stream* const stream = Stream(http2, id);
    if (stream == nullptr || Of(user).failed_) {
      nghttp2_session_consume_stream(http2, id, size);
    } else {
      stream->TakeData(Text(data, size));
    }
    return 0;
  }
  static int StreamClosed(nghttp2_session* http2, int32_t id, uint32_t, void* user) {
    if (Http2Stream* const stream = Stream(http2, id); stream != nullptr) Of(user).Remove(stream);
    return 0;
  }
  static int FrameSent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Of(user).OnFrameSent(*frame);
    return 0;
  }
  static ssize_t ReadData(nghttp2_session* http2, int32_t id, uint8_t*, size_t most, uint32_t* flags,
                          nghttp2_data_source*, void*) {
    Http2Stream* const stream = Stream(http2, id);
    if (stream == nullptr) return NGHTTP2_ERR_DEFERRED;  // aborted; its RST_STREAM follows
    size_t size = 0;
    switch (stream->NextBytes(most, &size)) {
      case Http2Stream::Next::kWait:
        return NGHTTP2_ERR_DEFERRED;
      case Http2Stream::Next::kTrailers:
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        return 0;
      case Http2Stream::Next::kEnd:
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        return 0;
      case Http2Stream::Next::kBytes:
        break;
    }
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    return static_cast<ssize_t>(size);
  }
  static int SendData(nghttp2_session* http2, nghttp2_frame* frame, const uint8_t* header, size_t size,
                      nghttp2_data_source*, void* user) {
    static constexpr size_t kFrameHeader = 9;
    Session& session = Of(user);
    session.batch_->Copy(header, kFrameHeader);
    session.produced_ += kFrameHeader + size;
    session.used_[kWindowUpdate].Forgive(kUpdatesPerData);
    Stream(http2, frame->hd.stream_id)->Produce(size, session.batch_);
    return session.BatchIsFull() ? NGHTTP2_ERR_PAUSE : 0;
  }

  static nghttp2_session_callbacks* All() {
    nghttp2_session_callbacks* all = nullptr;
    nghttp2_session_callbacks_new(&all);
    nghttp2_session_callbacks_set_on_begin_frame_callback(all, BeginFrame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(all, BeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(all, Header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(all, Frame);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(all, InvalidFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, Data);
    nghttp2_session_callbacks_set_on_stream_close_callback(all, StreamClosed);
    nghttp2_session_callbacks_set_on_frame_send_callback(all, FrameSent);
    nghttp2_session_callbacks_set_send_data_callback(all, SendData);
    return all;
  }

  static nghttp2_option* Options() {
    nghttp2_option* options = nullptr;
    nghttp2_option_new(&options);
    nghttp2_option_set_no_closed_streams(options, 1);
    nghttp2_option_set_no_auto_window_update(options, 1);
    // Responses' fields are few: a table for them would cost each connection more than it saves.
    nghttp2_option_set_max_deflate_dynamic_table_size(options, 0);
    nghttp2_option_set_max_outbound_ack(options, kMaxQueuedFrames);
    nghttp2_option_set_max_settings(options, 32);
    // The limits of kRates come first.
    nghttp2_option_set_stream_reset_rate_limit(options, 5000, 500);
    return options;
  }
};

nghttp2_data_provider Session::DataProvider() {
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::ReadData;
  return provider;
}

nghttp2_session* Session::MakeHttp2() {
  static nghttp2_session_callbacks* const callbacks = Callbacks::All();
  static nghttp2_option* const options = Callbacks::Options();
  nghttp2_session* http2 = nullptr;
  nghttp2_session_server_new2(&http2, callbacks, this, options);
  return http2;
}

}  // namespace fairlead::http2
