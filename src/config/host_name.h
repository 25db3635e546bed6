#ifndef FAIRLEAD_CONFIG_HOST_NAME_H_
#define FAIRLEAD_CONFIG_HOST_NAME_H_

#include <string>
#include <string_view>

// Host names as Istio's API uses them: a DNS name, or "*" or "*.suffix" as a wildcard.
namespace fairlead::config {

inline bool IsWildcard(std::string_view host) { return !host.empty() && host.front() == '*'; }

// Whether the sets of names that two hosts stand for meet: equal names, a wildcard that covers the other, …
bool HostsMatch(std::string_view a, std::string_view b);

// Whether every name that `host` stands for is one of `pattern`'s ("*.example.com" covers "*.a.example.com").
bool HostSubsetOf(std::string_view host, std::string_view pattern);

// Istio's order from most to least specific: longer first, wildcards after exact names of … (Istio:
// host.MoreSpecific).
bool MoreSpecificHost(std::string_view a, std::string_view b);

// The fully qualified name of a host as a manifest in `ns` writes it: a name without dots (and not a
// wildcard) becomes
// "<name>.<ns>.svc.<domain>"; everything else stays (Istio: ResolveShortnameToFQDN).
std::string QualifyHost(std::string_view host, std::string_view ns, std::string_view domain);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_HOST_NAME_H_
