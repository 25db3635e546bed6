#ifndef FAIRLEAD_HTTP2_OPTIONS_H_
#define FAIRLEAD_HTTP2_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "http2/http_stream.h"
#include "http2/stream.h"

namespace fairlead::http2 {

struct Method {
  std::string path;  // "/package.Service/Method"
  StreamOpener open;
};

// Istio's --keepalive… flags. Zero means what it means for gRPC in Go: pings after two hours, 20 s for their
// answer, connections of any age.
struct KeepaliveOptions {
  // Of silence, until a peer is pinged. Clients may ping twice as often; one that does so more often is sent
  // away (too_many_pings).
  std::chrono::milliseconds interval = std::chrono::seconds(30);
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  // for a ping's answer
  // A connection of this age, a tenth more or less by chance, takes no new streams, and its streams end with
  // UNAVAILABLE `max_connection_age_grace` later: proxies find their way to all replicas.
  std::chrono::milliseconds max_connection_age = std::chrono::milliseconds(0);
  std::chrono::milliseconds max_connection_age_grace = std::chrono::seconds(10);
  // A connection that has had no stream for so long is told to go. Zero: it may stay.
  std::chrono::milliseconds max_connection_idle = std::chrono::milliseconds(0);
};

// What clients may take, each of them and together.
struct Limits {
  size_t max_message_size = 4 << 20;  // of a message from a client, compressed or not
  uint32_t max_streams = 100000;      // at a time, of one connection
  // The same where the client's certificate does not say who it is.
  uint32_t max_streams_without_identity = 100000;
  // A stream whose first message is not there by then ends with DEADLINE_EXCEEDED. Zero: it may stay.
  std::chrono::milliseconds first_message_timeout = std::chrono::milliseconds(0);
  size_t max_header_bytes = 16 << 10;
  // What a client may send without its being taken: on a stream, on a connection. A stream whose bytes make
  // those of its connection more than a message and `max_held` ends with RESOURCE_EXHAUSTED.
  uint32_t stream_window = 32 << 10;
  uint32_t connection_window = 1 << 20;
  size_t max_held = 16 << 20;
  // Of an event loop: messages that have come in part, beyond a window; see ReadBudget.
  size_t max_partial = 8 << 20;
  // Connections at a time; see Guests for those that go when there are more. Zero: as many as the process may
  // have files, less some for the rest of it.
  size_t max_connections = 0;
  // Of one listener from one address (of IPv6 its first 64 bits), without identity. Zero: no limit.
  size_t max_connections_per_address = 0;
  // Connections of one event loop that are not through with their handshake and HTTP/2's preface; the oldest
  // goes when there are more, each does after the time.
  size_t max_handshakes = 4096;
  // Proxies that all come at once on a machine that is busy took more than ten seconds to greet.
  std::chrono::milliseconds handshake_timeout = std::chrono::seconds(30);
  // A connection whose peer takes nothing of what there is for it is cut.
  std::chrono::milliseconds stall_timeout = std::chrono::seconds(30);
};

struct Listener {
  std::string name;  // in metrics, logs and errors: the address as the user wrote it
  std::string host;  // an IP address or a name; "::": all addresses of both families
  int port = 0;      // 0: one that is free
  std::string path;  // of a unix socket, instead of host and port
  std::shared_ptr<TlsCredentials> credentials;  // null: plaintext
  // Null: gRPC on HTTP/2 is spoken here; else HTTP/1.1 and HTTP/2, as the client begins. With credentials
  // they need TlsOptions::http1.
  std::shared_ptr<const HttpService> http;
};

struct ServerOptions {
  std::vector<Listener> listeners;
  KeepaliveOptions keepalive;
  Limits limits;
  std::vector<Method> methods;
  // What an unknown method is answered with, from its path.
  std::function<absl::Status(std::string_view path)> refuse;
  size_t loops = 0;  // event loops, each a thread; 0: one a core
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_OPTIONS_H_
