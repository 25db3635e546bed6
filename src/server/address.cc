#include "server/address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead::server {
namespace {

// What the system says to a socket that takes the address; "" where it has nothing against it.
std::string Objection(const Address& address) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  const std::string port = StrCat(address.port);
  if (const int error = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found); error != 0)
    return gai_strerror(error);
  std::string objection;
  const int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 1) != 0)
    objection = ErrnoText(errno);
  if (fd >= 0) close(fd);
  freeaddrinfo(found);
  return objection;
}

}  // namespace

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  const auto invalid = [&] { return absl::InvalidArgumentError(StrCat("\"", text, "\" is no host:port")); };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return invalid();
  std::string_view host = text.substr(0, colon), port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  Address address{host.empty() ? "::" : std::string(host), 0};
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size()) return invalid();
  address.port = number;
  return address;
}

absl::Status ListenFailure(std::string_view text) {
  const absl::StatusOr<Address> address = ParseAddress(text);
  if (!address.ok()) return address.status();
  const std::string objection = Objection(*address);
  return absl::UnavailableError(StrCat("cannot listen on ", text, objection.empty() ? "" : ": ", objection));
}

}  // namespace fairlead::server
