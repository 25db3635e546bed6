#ifndef FAIRLEAD_HTTP2_COUNTS_H_
#define FAIRLEAD_HTTP2_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>

namespace fairlead::http2 {

// What a loop counts of a listener until the metrics are told. Written by the loop's thread alone.
struct Counts {
  uint64_t connections_opened = 0, connections_closed = 0;
  uint64_t streams_opened = 0, streams_closed = 0;
  uint64_t bytes_received = 0, bytes_sent = 0;  // of HTTP/2, without TLS
  uint64_t messages_received = 0, messages_sent = 0;
  uint64_t handshakes = 0, resumed = 0;            // of TLS, that succeeded
  std::map<std::string, uint64_t> sent_away = {};  // connections that the server has ended, by the reason
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_COUNTS_H_
