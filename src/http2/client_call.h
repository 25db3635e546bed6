#ifndef FAIRLEAD_HTTP2_CLIENT_CALL_H_
#define FAIRLEAD_HTTP2_CLIENT_CALL_H_

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "http2/message_reader.h"

namespace fairlead::http2 {

struct ClientCallOptions {
  std::string authority;                                           // "istiod.istio-system.svc:15012"
  std::string path;                                                // "/package.Service/Method"
  bool tls = false;                                                // the connection is secure
  std::vector<std::pair<std::string, std::string>> metadata = {};  // names in lower case
  size_t max_message_size = 4 << 20;                               // of a message from the server
  // What the server may send without its being taken; and the bytes of messages that are not dealt with, from
  // which on nothing more of them is taken.
  uint32_t window = 1 << 20;
  size_t max_undone = 4 << 20;
};

// A bidirectional gRPC call, the client's end, on an HTTP/2 connection of its own, without its socket: bytes
// in, bytes out. For one thread. Sources: RFC 9113;
// github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, doc/http-grpc-status-mapping.md
class ClientCall {
 public:
  // `on_message` is called within Receive.
  ClientCall(ClientCallOptions options, std::function<void(std::string message)> on_message);
  ~ClientCall();
  ClientCall(const ClientCall&) = delete;
  ClientCall& operator=(const ClientCall&) = delete;

  void Receive(std::string_view bytes);
  // Appends what there is to say to `out`, until that has `most` bytes or a few more.
  void Produce(size_t most, std::string* out);
  void Send(std::string_view message);
  void Finish();  // no message follows; may be called again
  bool all_sent() const { return at_ == to_send_.size(); }
  // So many bytes of messages are dealt with.
  void Done(size_t bytes);

  bool ended() const { return ended_; }
  // How the server ended the call, or what kept it from it. REQUIRES: ended.
  const absl::Status& status() const { return status_; }

 private:
  struct Callbacks;
  void Greet();
  void TakeField(std::string_view name, std::string_view value);
  void TakeData(std::string_view bytes);
  size_t Give(uint8_t* to, size_t most);
  void End(absl::Status status);
  absl::Status Said() const;

  const ClientCallOptions options_;
  const std::function<void(std::string message)> on_message_;
  nghttp2_session* http2_ = nullptr;
  int32_t stream_ = 0;
  MessageReader reader_;
  std::string to_send_;  // framed, from a position on
  size_t at_ = 0;
  bool finished_ = false;
  size_t undone_ = 0;    // bytes of messages
  size_t withheld_ = 0;  // bytes that the server is not told to have been taken
  // As the server says.
  int http_status_ = 0, grpc_status_ = -1;
  std::string message_;
  std::string problem_;  // nghttp2's with the server, the last

  bool ended_ = false;
  absl::Status status_;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_CLIENT_CALL_H_
