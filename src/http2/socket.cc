#include "http2/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead::http2 {
namespace {

constexpr int kBacklog = 4096;

absl::Status Failure(const Listener& listener, std::string_view reason) {
  return absl::UnavailableError(StrCat("cannot listen on ", listener.name, ": ", reason));
}

int PortOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

// No file where the system objects; errno says why.
File Open(const sockaddr* address, socklen_t size) {
  File file(socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (file.get() < 0) return {};
  const int yes = 1, no = 0;
  if (address->sa_family != AF_UNIX) setsockopt(file.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address->sa_family == AF_INET6) setsockopt(file.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (bind(file.get(), address, size) != 0 || listen(file.get(), kBacklog) != 0) {
    const int error = errno;
    file = File();
    errno = error;
    return {};
  }
  return file;
}

absl::StatusOr<Listening> ListenOnPath(const Listener& listener) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (listener.path.size() >= sizeof address.sun_path) return Failure(listener, "the path is too long");
  memcpy(address.sun_path, listener.path.data(), listener.path.size());
  struct stat old {};
  if (lstat(listener.path.c_str(), &old) == 0 && S_ISSOCK(old.st_mode)) unlink(listener.path.c_str());
  Listening out;
  out.sockets.push_back(Open(reinterpret_cast<const sockaddr*>(&address), sizeof address));
  if (out.sockets.back().get() < 0) return Failure(listener, ErrnoText(errno));
  return out;
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

// All addresses of a name; a port that the system chooses is the same for all.
absl::StatusOr<Listening> ListenOnHost(const Listener& listener, const std::string& host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  const int error = getaddrinfo(host.c_str(), StrCat(listener.port).c_str(), &hints, &found);
  if (error != 0) return Failure(listener, gai_strerror(error));
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(found);
  Listening out;
  for (addrinfo* address = found; address != nullptr; address = address->ai_next) {
    if (out.port != 0) {
      // The port is at the same place for both families.
      reinterpret_cast<sockaddr_in*>(address->ai_addr)->sin_port = htons(static_cast<uint16_t>(out.port));
    }
    File file = Open(address->ai_addr, address->ai_addrlen);
    if (file.get() < 0) return Failure(listener, ErrnoText(errno));
    if (out.port == 0) out.port = PortOf(file.get());
    out.sockets.push_back(std::move(file));
  }
  return out;
}

}  // namespace

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<Listening> Listen(const Listener& listener) {
  if (!listener.path.empty()) return ListenOnPath(listener);
  auto out = ListenOnHost(listener, listener.host);
  // Where there is no IPv6, all addresses are those of IPv4.
  if (!out.ok() && listener.host == "::") {
    if (auto other = ListenOnHost(listener, "0.0.0.0"); other.ok()) return other;
  }
  return out;
}

std::string AddressText(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(address);
    inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
    return StrCat("ipv4:", std::string_view(text), ":", ntohs(in->sin_port));
  }
  if (address->sa_family != AF_INET6) return "unix:";
  const auto* in = reinterpret_cast<const sockaddr_in6*>(address);
  // A client of IPv4 on a socket of both families.
  if (IN6_IS_ADDR_V4MAPPED(&in->sin6_addr)) {
    inet_ntop(AF_INET, &in->sin6_addr.s6_addr[12], text, sizeof text);
    return StrCat("ipv4:", std::string_view(text), ":", ntohs(in->sin6_port));
  }
  inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text);
  return StrCat("ipv6:%5B", std::string_view(text), "%5D:", ntohs(in->sin6_port));
}

std::string AddressKey(const sockaddr* address) {
  const auto bytes = [](const void* from, size_t size) {
    return std::string(static_cast<const char*>(from), size);
  };
  if (address->sa_family == AF_INET)
    return bytes(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr, sizeof(in_addr));
  if (address->sa_family != AF_INET6) return "";
  const in6_addr& in = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&in)) return bytes(&in.s6_addr[12], sizeof(in_addr));
  return bytes(&in, sizeof in / 2);
}

}  // namespace fairlead::http2
