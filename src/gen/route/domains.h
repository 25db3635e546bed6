#ifndef FAIRLEAD_GEN_ROUTE_DOMAINS_H_
#define FAIRLEAD_GEN_ROUTE_DOMAINS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/strings.h"
#include "model/service.h"

// The names under which requests ask for a service, as a client of some DNS domain may write them.
namespace fairlead::gen::route {

// "host:80"; what holds a colon goes into brackets: "[2001:db8::1]:80".
std::string HostAndPort(std::string_view host, uint32_t port);
// The host in brackets if it holds a colon.
std::string BracketIpv6(std::string_view host);

// The names that a client's resolver may produce.
struct ClientNames {
  std::string_view domain;  // of the client's DNS search
  bool absolute = true;     // names that end with a dot count, too
};

// The other names of a host: absolute ("reviews.default.svc.cluster.local.") and the short ones that a
// client's resolver completes ("reviews", "reviews.default", "reviews.default.svc"). With port 0 without
// ports, else each with and without. Source: Istio's GenerateAltVirtualHosts.
std::vector<std::string> AlternateHosts(std::string_view host, uint32_t port, const ClientNames& client);

struct Domain {
  std::string name;
  bool alternate = false;  // made up by AlternateHosts
};

// All names of a service: `host` (its hostname in the caller's spelling), its aliases with alternates, any
// pod of a headless service, its addresses. Source: Istio's generateVirtualHostDomains.
std::vector<Domain> ServiceDomains(const model::Service& service, std::string_view host, uint32_t port,
                                   const ClientNames& client, const std::vector<std::string>& addresses);

// Keeps the domains of one route configuration unique, as Envoy wants them: the first virtual host wins. A
// made-up alternate gives way to a service that has it for its real name, wherever that one comes. The set
// holds views of its arguments and results, which must outlive it. A vector may be moved; its strings stay
// where they are.
class DomainSet {
 public:
  explicit DomainSet(size_t hosts);  // about how many claims there will be
  // Names that belong to services; to be told before the first Claim.
  void AddRealName(std::string_view name) { real_names_.insert(name); }
  // The domains that nobody had yet, in order.
  std::vector<std::string> Claim(std::vector<Domain> domains);

 private:
  using Views = absl::flat_hash_set<std::string_view, StringViewHash, StringViewEqual>;
  bool Take(const std::string& domain);

  Views taken_;  // in lower case
  Views real_names_;
  std::deque<std::string> lowered_;  // of domains that have capitals
};

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_DOMAINS_H_
