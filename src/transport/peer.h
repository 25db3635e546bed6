#ifndef FAIRLEAD_TRANSPORT_PEER_H_
#define FAIRLEAD_TRANSPORT_PEER_H_

#include <memory>
#include <string>

#include "transport/tls.h"

namespace fairlead::transport {

// Who is at the other end of a connection; shared by its streams.
struct Peer {
  std::string address;
  std::shared_ptr<const TlsPeer> tls;  // null: plaintext
};

}  // namespace fairlead::transport

#endif  // FAIRLEAD_TRANSPORT_PEER_H_
