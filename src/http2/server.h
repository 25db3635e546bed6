#ifndef FAIRLEAD_HTTP2_SERVER_H_
#define FAIRLEAD_HTTP2_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "http2/options.h"

namespace fairlead::http2 {

// What is to be known of a connection.
struct ConnectionInfo {
  std::string listener;  // its name
  std::string peer;      // "ipv4:10.0.0.1:43210"
  std::chrono::milliseconds age{};
  bool tls = false;
  std::vector<std::string> names;   // of the client's certificate: its URIs
  size_t streams = 0;               // calls that are open
  uint64_t received = 0, sent = 0;  // bytes, of the socket and of HTTP/2
  size_t held = 0;                  // bytes that came and are not yet taken
};

// A server of gRPC methods on HTTP/2: nghttp2 keeps the protocol, this folder the rest. TCP and unix sockets,
// plaintext and TLS. Each core has an event loop with a share of the connections; handlers are called there.
// Thread-safe, but for Start and Stop, which are for one thread that is none of its own.
class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();  // as Stop(0)
  // Listens; Unavailable, naming the listener, where it cannot.
  absl::Status Start();
  // Takes no new connections and streams, tells clients to go elsewhere, and ends what still runs after
  // `grace`. Handlers have heard OnClosed when it returns.
  void Stop(std::chrono::milliseconds grace);
  // The ports listened on, in the order of the listeners; 0: a unix socket.
  const std::vector<int>& ports() const;
  // Waits for the loops' next turns. None after Stop.
  std::vector<ConnectionInfo> Connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_SERVER_H_
