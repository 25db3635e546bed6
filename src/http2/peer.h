#ifndef FAIRLEAD_HTTP2_PEER_H_
#define FAIRLEAD_HTTP2_PEER_H_

#include <memory>
#include <string>

#include "http2/tls.h"

namespace fairlead::http2 {

// Who is at the other end of a connection; shared by its streams.
struct Peer {
  std::string address;
  std::shared_ptr<const TlsPeer> tls;  // null: plaintext
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_PEER_H_
