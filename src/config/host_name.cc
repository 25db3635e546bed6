#include "config/host_name.h"

#include "base/ip_address.h"
#include "base/strings.h"

namespace fairlead::config {

bool HostsMatch(std::string_view a, std::string_view b) {
  if (IsWildcard(a) && IsWildcard(b)) {
    return a.size() < b.size() ? b.substr(1).ends_with(a.substr(1)) : a.substr(1).ends_with(b.substr(1));
  }
  if (IsWildcard(a)) return b.ends_with(a.substr(1));
  if (IsWildcard(b)) return a.ends_with(b.substr(1));
  return a == b;
}

bool HostSubsetOf(std::string_view host, std::string_view pattern) {
  if (!IsWildcard(pattern)) return host == pattern && !IsWildcard(host);
  if (!IsWildcard(host)) return host.ends_with(pattern.substr(1));
  return host.size() >= pattern.size() && host.substr(1).ends_with(pattern.substr(1));
}

bool MoreSpecificHost(std::string_view a, std::string_view b) {
  if (IsWildcard(a) != IsWildcard(b)) return IsWildcard(b);
  if (a.size() != b.size()) return a.size() > b.size();
  return a < b;
}

std::string QualifyHost(std::string_view host, std::string_view ns, std::string_view domain) {
  if (host.empty() || host == "*" || host.find('.') != std::string_view::npos || IsIpAddress(host)) {
    return std::string(host);
  }
  std::string out(host);
  if (!ns.empty()) StrAppend(&out, ".", ns);
  // Istio tells a Kubernetes mesh by its domain; without one the short name stays.
  if (!domain.empty()) StrAppend(&out, ".svc.", domain);
  return out;
}

}  // namespace fairlead::config
