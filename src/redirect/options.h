#ifndef FAIRLEAD_REDIRECT_OPTIONS_H_
#define FAIRLEAD_REDIRECT_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ip_address.h"

namespace fairlead::redirect {

// Which traffic of a network namespace goes to its proxy. Lists are texts with commas, as istio-iptables
// takes them; "*" in an include list means everything. A plain value. Source:
// istio.io/latest/docs/reference/commands/pilot-agent/#pilot-agent-istio-iptables
struct RedirectOptions {
  // The proxy.
  std::string outbound_port = "15001", inbound_port = "15006";
  std::string tunnel_port = "15008";  // never redirected
  std::string proxy_users;            // whose own traffic is left alone; "": of ENVOY_USER, else 1337
  std::string proxy_groups;           // the same; "": the users
  // Inbound.
  std::string mode;  // TPROXY keeps the client's address; anything else is REDIRECT
  std::string tproxy_mark = "1337", tproxy_table = "133";
  std::string inbound_ports, excluded_inbound_ports;  // the latter with "*" alone
  // Outbound.
  std::string ranges, excluded_ranges;  // CIDR
  std::string outbound_ports, excluded_outbound_ports;
  std::string owner_groups = "*", excluded_owner_groups;  // of the sending process; names or numbers
  std::string loopback_range = "127.0.0.1/32";            // of the workload itself, by IPv4
  // Both.
  std::string excluded_interfaces;
  std::string virtual_interfaces;  // of virtual machines: their inbound traffic counts as outbound
  bool redirect_dns = false;       // to the agent's resolver
  bool capture_all_dns = false;    // not only of the nameservers in resolv.conf
  bool drop_invalid = false;       // packets of no known connection
  bool dual_stack = false;         // IPv6 counts though IPv4 comes first

  // How it is done.
  bool dry_run = false;
  std::string dry_run_file;  // where a dry run writes its commands; "": standard output
  bool skip_rules = false, check_rules = false, reconcile = false, clean_up = false, force = false;
  bool native_nftables = false;
  std::string forced_binary;  // "legacy" or "nft"
  uint16_t probe_port = 15002;
  std::chrono::nanoseconds probe_timeout = std::chrono::seconds(5);
  std::string network_namespace;  // a file; with cni_mode the lock of iptables
  bool cni_mode = false;          // the namespace is a pod's, the files are the node's

  // Of the namespace: see FillIn.
  std::optional<IpAddress> address;
  bool ipv6 = false;
  std::vector<std::string> resolvers_v4, resolvers_v6;
};

// Where FillIn looks.
struct AddressSources {
  std::vector<std::string> addresses;  // of the interfaces, in the system's order
  std::string resolver_file = "/etc/resolv.conf";
  std::string user_file = "/etc/passwd";
  std::string proxy_user = "istio-proxy";
};

// Of this process's namespace.
AddressSources CurrentAddresses();

// The users and groups of the proxy unless they are given, the address, the IP versions and, for captured
// DNS, the nameservers. FailedPrecondition without an address.
absl::Status FillIn(const AddressSources& sources, RedirectOptions* options);

// InvalidArgument names the flag or variable and its wrong value: ranges, groups, the binary, words that are
// no single word of a rule.
absl::Status Check(const RedirectOptions& options);

// The entries of a list, without empty ones and without spaces around them.
std::vector<std::string> Entries(std::string_view list);

// Ranges of both IP versions; "*": all. InvalidArgument names `flag` and the wrong one.
struct Ranges {
  bool all = false;
  bool has_loopback = false;
  std::vector<IpPrefix> v4, v6;
};
absl::StatusOr<Ranges> ParseRanges(std::string_view flag, std::string_view list);
absl::StatusOr<Ranges> IncludedRanges(const RedirectOptions& options);
absl::StatusOr<Ranges> ExcludedRanges(const RedirectOptions& options);  // never all

// Whether DNS is captured: it needs nameservers, unless all of it is.
bool CapturesDns(const RedirectOptions& options);

// Whether inbound connections keep their addresses.
inline bool UsesTproxy(const RedirectOptions& options) { return options.mode == "TPROXY"; }

inline constexpr std::string_view kDnsPort = "15053";      // the agent's resolver
inline constexpr std::string_view kOutboundMark = "1338";  // with TPROXY: the proxy's own, to the workload

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_OPTIONS_H_
