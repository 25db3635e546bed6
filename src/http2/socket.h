#ifndef FAIRLEAD_HTTP2_SOCKET_H_
#define FAIRLEAD_HTTP2_SOCKET_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "http2/options.h"

struct sockaddr;

namespace fairlead::http2 {

// A file descriptor that is closed with its owner.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File();
  int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

struct Listening {
  std::vector<File> sockets;  // one for each address that a name has
  int port = 0;               // 0: a unix socket
};

// Opens a listener's sockets, which do not block. Unavailable, with the listener's name and the system's
// reason, where it cannot. What is left of an earlier unix socket of that path is replaced.
absl::StatusOr<Listening> Listen(const Listener& listener);

// As gRPC writes addresses: "ipv4:10.0.0.1:43210", "ipv6:%5B::1%5D:43210", "unix:".
std::string AddressText(const sockaddr* address);
// What connections are counted by: the address of IPv4, of IPv6 the first 64 bits, which are one network's;
// "" for a unix socket.
std::string AddressKey(const sockaddr* address);

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_SOCKET_H_
