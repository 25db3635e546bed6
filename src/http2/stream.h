#ifndef FAIRLEAD_HTTP2_STREAM_H_
#define FAIRLEAD_HTTP2_STREAM_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "http2/tls.h"

// A method call as both ends see it: encoded messages in both directions, then a status. What the messages
// say is no matter of this folder.
namespace fairlead::http2 {

// A part of a message to send; `owner` keeps the bytes alive until the transport has let go of them.
struct Slice {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
};

// The server's end of a bidirectional stream. Thread-safe; calls after Close do nothing.
class ServerStream {
 public:
  virtual ~ServerStream() = default;
  // Asks for the next message: StreamHandler::OnMessage follows. At most one at a time. While no message is
  // asked for, the client may send no more than a window.
  virtual void Read() = 0;
  // Sends a message: StreamHandler::OnSent follows. At most one at a time.
  virtual void Send(std::vector<Slice> message) = 0;
  // Ends the stream, after what is being sent.
  virtual void Close(const absl::Status& status) = 0;
  // Ends the stream at once: for a client that does not read.
  virtual void Abort() = 0;
  virtual const std::string& peer() const = 0;  // "ipv4:10.0.0.1:43210", "ipv6:%5B::1%5D:43210", "unix:"
  // The client's end of TLS, verified; null: the connection is plaintext. Valid as long as the stream.
  virtual const TlsPeer* tls() const = 0;
  // The request's metadata of that name, in lower case ("authorization"); of several values the last.
  // REQUIRES: within StreamOpener; what is not asked for there is forgotten.
  virtual std::optional<std::string> Metadata(std::string_view name) const = 0;
  // The client has shown who it is by something else than its certificate: its connection is not the one to
  // go where there are too many.
  virtual void NoteIdentity() {}
};

// What happens on a stream; called on the transport's threads, must not block. OnClosed comes once, as the
// last.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  virtual void OnMessage(std::string_view bytes) = 0;  // valid during the call
  // The message that was sent is with the system, or never will be.
  virtual void OnSent(bool ok) = 0;
  virtual void OnClosed() = 0;
};

// Makes the handler of a new stream, which begins to read by itself. The handler is kept until after
// OnClosed.
using StreamOpener = std::function<std::shared_ptr<StreamHandler>(std::shared_ptr<ServerStream>)>;

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_STREAM_H_
