#include <algorithm>
#include <optional>
#include <set>

#include "base/ip_address.h"
#include "gen/listener/chain.h"

namespace fairlead::gen::listener {
namespace {

bool HasFullWildcard(const std::vector<std::string>& hosts) {
  return std::find(hosts.begin(), hosts.end(), "*") != hosts.end();
}

std::set<std::string> HostSet(const std::vector<std::string>& hosts) {
  std::set<std::string> set(hosts.begin(), hosts.end());
  set.erase("*");
  return set;
}

// Ranges are compared by what they cover: 1.2.3.4/8 is 1.5.6.7/8.
std::set<std::string> RangeSet(const std::vector<std::string>& destinations) {
  std::set<std::string> set;
  for (const std::string& text : destinations) {
    const std::optional<IpPrefix> range = IpPrefix::ParseRange(text);
    if (!range || (range->address.is_v4() && range->address.is_unspecified())) continue;
    set.insert(range->Masked().ToString());
  }
  return set;
}

}  // namespace

bool OutboundChain::MatchesAll() const {
  return (sni_hosts.empty() || HasFullWildcard(sni_hosts)) && !sniffed_http && destinations.empty();
}

bool ChainsConflict(const OutboundChain& a, const OutboundChain& b) {
  return a.sniffed_http == b.sniffed_http && HostSet(a.sni_hosts) == HostSet(b.sni_hosts) &&
         RangeSet(a.destinations) == RangeSet(b.destinations);
}

}  // namespace fairlead::gen::listener
