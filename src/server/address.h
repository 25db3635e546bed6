#ifndef FAIRLEAD_SERVER_ADDRESS_H_
#define FAIRLEAD_SERVER_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Addresses to listen on, as the flags have them.
namespace fairlead::server {

struct Address {
  std::string host;  // without the brackets of an IPv6 address; "::" where none is given: all addresses
  int port = 0;      // 0: one that is free
};

// "host:port", "[::1]:port" or ":port". InvalidArgument for anything else.
absl::StatusOr<Address> ParseAddress(std::string_view text);

// Why an address could not be listened on: Unavailable, with the address and the system's reason.
absl::Status ListenFailure(std::string_view text);

}  // namespace fairlead::server

#endif  // FAIRLEAD_SERVER_ADDRESS_H_
