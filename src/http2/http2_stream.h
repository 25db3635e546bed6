#ifndef FAIRLEAD_HTTP2_HTTP2_STREAM_H_
#define FAIRLEAD_HTTP2_HTTP2_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "base/clock.h"

namespace fairlead::http2 {

class Batch;
class Session;

// A stream of an HTTP/2 session, as the session sees it: a call of gRPC or a plain request. For the loop's
// thread. It is attached to its session until it is closed; others may hold it for longer.
class Http2Stream {
 public:
  Http2Stream(Session* session, int32_t id) : session_(session), id_(id) {}
  virtual ~Http2Stream() = default;
  Http2Stream(const Http2Stream&) = delete;
  Http2Stream& operator=(const Http2Stream&) = delete;

 protected:
  friend class Session;

  virtual void TakeData(std::string_view bytes) = 0;
  virtual void TakeEnd() = 0;  // the client has said all
  // A time that it asked for has come; the next one.
  virtual Clock::time_point Expire() = 0;
  // What is to be sent next, at most `most` bytes in one frame. kWait: nothing yet; kTrailers: no more bytes,
  // but trailers are submitted; kEnd: nothing any more.
  enum class Next { kBytes, kWait, kTrailers, kEnd };
  virtual Next NextBytes(size_t most, size_t* size) = 0;
  virtual void Produce(size_t size, Batch* batch) = 0;
  virtual void OnWritten(bool ok) = 0;  // what Session::AwaitWritten was called for
  virtual void Detach() = 0;            // from the session: nothing comes or goes any more
  virtual void EndWithConnection(const absl::Status& status) = 0;

  Session* session_;  // null: detached
  const int32_t id_;
  bool counted_ = false;  // it was not refused

 private:
  // The session's.
  std::shared_ptr<Http2Stream> self_;
  Http2Stream *next_ = nullptr, *previous_ = nullptr;
  Clock::time_point timer_ = Clock::time_point::max();
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_HTTP2_STREAM_H_
