#include <algorithm>

#include "base/strings.h"
#include "config/check/names.h"
#include "gen/grpc/build.h"
#include "gen/route/domains.h"
#include "model/host_name.h"

namespace fairlead::gen::grpc {
namespace {

bool Answers(std::string_view domain, std::string_view host, uint32_t port) {
  if (domain == route::BracketIpv6(host) || domain == route::HostAndPort(host, port)) return true;
  std::string_view own_host, own_port;
  if (!config::check::SplitHostPort(domain, &own_host, &own_port)) {
    own_host = domain;
  } else if (own_port != StrCat(port)) {
    return false;
  }
  return model::IsWildcard(own_host) && model::HostsMatch(own_host, host);
}

}  // namespace

route::VirtualHosts HostsFor(const route::VirtualHosts& all, std::string_view host, uint32_t port) {
  const std::string lower = AsciiLower(host);
  route::VirtualHosts out;
  for (const route::VirtualHost& candidate : all) {
    if (std::any_of(candidate.domains.begin(), candidate.domains.end(),
                    [&](const std::string& domain) { return Answers(AsciiLower(domain), lower, port); })) {
      out.push_back(candidate);
    }
  }
  return out;
}

}  // namespace fairlead::gen::grpc
