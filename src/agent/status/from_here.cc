#include "agent/status/from_here.h"

#include <string_view>

#include "base/ip_address.h"

namespace fairlead::agent {

bool IsFromHere(const server::HttpRequest& request) {
  constexpr std::string_view kMapped = "::ffff:";
  std::string_view peer = request.peer;
  if (peer.starts_with(kMapped)) peer.remove_prefix(kMapped.size());
  const auto address = IpAddress::Parse(peer);
  return address && address->is_loopback();
}

server::HttpResponse OnlyFromHere() {
  return {.status = 403, .body = "Only requests from localhost are allowed\n"};
}

}  // namespace fairlead::agent
