#include "redirect/iptables_rules.h"

#include <string_view>
#include <utility>

#include "base/strings.h"

namespace fairlead::redirect {
namespace {

// The two IP versions differ in their addresses alone.
struct Version {
  std::string loopback;        // of the workload
  std::string inbound_source;  // of the proxy's connections to the workload
  std::string host_bits;       // of one address
  std::vector<std::string> resolvers;
  std::vector<IpPrefix> ranges, excluded;
};

// The rules of one IP version.
class Maker {
 public:
  Maker(const RedirectOptions& options, Version version, bool all_ranges, bool captures_loopback)
      : options_(options),
        version_(std::move(version)),
        all_ranges_(all_ranges),
        captures_loopback_(captures_loopback),
        dns_(CapturesDns(options)) {}

  std::vector<IptablesRule> Make() {
    SkipInterfaces();
    DropInvalid();
    MakeTargets();
    Inbound();
    Append("nat", "OUTPUT", "-j ISTIO_OUTPUT");
    SkipOutboundPorts();
    Proxy();
    Owners();
    if (dns_) Dns();
    SkipRanges();
    Outbound();
    if (UsesTproxy(options_)) KeepMarks();
    return std::move(rules_);
  }

 private:
  template <typename... Pieces>
  void Append(std::string_view table, std::string_view chain, const Pieces&... pieces) {
    Insert(table, chain, 0, pieces...);
  }

  template <typename... Pieces>
  void Insert(std::string_view table, std::string_view chain, int position, const Pieces&... pieces) {
    Words words;
    const std::string text = StrCat(pieces...);
    for (std::string_view word : Split(text, ' ')) words.emplace_back(word);
    rules_.push_back({std::string(table), std::string(chain), position, std::move(words)});
  }

  void SkipInterface(std::string_view table, std::string_view name) {
    Append(table, "PREROUTING", "-i ", name, " -j RETURN");
    Append(table, "OUTPUT", "-o ", name, " -j RETURN");
  }

  void SkipInterfaces() {
    const auto excluded = Entries(options_.excluded_interfaces);
    for (const std::string& name : excluded) SkipInterface("nat", name);
    if (UsesTproxy(options_)) {
      for (const std::string& name : excluded) SkipInterface("mangle", name);
    }
    for (const std::string& name : Entries(options_.virtual_interfaces))
      Insert("nat", "PREROUTING", 1, "-i ", name, " -j RETURN");
  }

  void DropInvalid() {
    if (!options_.drop_invalid) return;
    Append("mangle", "PREROUTING", "-m conntrack --ctstate INVALID -j ISTIO_DROP");
    Append("mangle", "ISTIO_DROP", "-j DROP");
  }

  void MakeTargets() {
    Append("nat", "ISTIO_INBOUND", "-p tcp --dport ", options_.tunnel_port, " -j RETURN");
    Append("nat", "ISTIO_REDIRECT", "-p tcp -j REDIRECT --to-ports ", options_.outbound_port);
    Append("nat", "ISTIO_IN_REDIRECT", "-p tcp -j REDIRECT --to-ports ", options_.inbound_port);
  }

  void Inbound() {
    if (options_.inbound_ports.empty()) return;
    const bool tproxy = UsesTproxy(options_);
    const std::string_view table = tproxy ? "mangle" : "nat";
    if (tproxy) {
      Append("mangle", "ISTIO_DIVERT", "-j MARK --set-mark ", options_.tproxy_mark);
      Append("mangle", "ISTIO_DIVERT", "-j ACCEPT");
      Append("mangle", "ISTIO_TPROXY", "! -d ", version_.loopback, " -p tcp -j TPROXY --tproxy-mark ",
             options_.tproxy_mark, "/0xffffffff --on-port ", options_.inbound_port);
    }
    Append(table, "PREROUTING", "-p tcp -j ISTIO_INBOUND");
    if (options_.inbound_ports == "*") {
      for (const std::string& port : Entries(options_.excluded_inbound_ports))
        Append(table, "ISTIO_INBOUND", "-p tcp --dport ", port, " -j RETURN");
      Capture(table, "");
      return;
    }
    for (const std::string& port : Entries(options_.inbound_ports)) Capture(table, StrCat(" --dport ", port));
  }

  // Inbound connections go to the proxy; with TPROXY, packets of connections that are known go on to theirs.
  void Capture(std::string_view table, std::string_view which) {
    if (table == "nat") {
      Append("nat", "ISTIO_INBOUND", "-p tcp", which, " -j ISTIO_IN_REDIRECT");
      return;
    }
    Append("mangle", "ISTIO_INBOUND", "-p tcp", which,
           " -m conntrack --ctstate RELATED,ESTABLISHED -j ISTIO_DIVERT");
    Append("mangle", "ISTIO_INBOUND", "-p tcp", which, " -j ISTIO_TPROXY");
  }

  void SkipOutboundPorts() {
    for (const std::string& port : Entries(options_.excluded_outbound_ports)) {
      Append("nat", "ISTIO_OUTPUT", "-p tcp --dport ", port, " -j RETURN");
      Append("nat", "ISTIO_OUTPUT", "-p udp --dport ", port, " -j RETURN");
    }
  }

  // The proxy's own traffic: what it sends to the workload by the pod's address goes in again, the rest out.
  void Proxy() {
    Append("nat", "ISTIO_OUTPUT", "-o lo -s ", version_.inbound_source, " -j RETURN");
    const std::string tunnel = StrCat("! --dport ", options_.tunnel_port);
    const std::string tunnel_or_dns = StrCat("-m multiport ! --dports 53,", options_.tunnel_port);
    for (const std::string& user : Entries(options_.proxy_users))
      ProxyOwner("--uid-owner", user, dns_ ? tunnel_or_dns : tunnel);
    for (const std::string& group : Entries(options_.proxy_groups)) ProxyOwner("--gid-owner", group, tunnel);
  }

  void ProxyOwner(std::string_view kind, const std::string& owner, const std::string& ports) {
    Append("nat", "ISTIO_OUTPUT", "-o lo ! -d ", version_.loopback, " -p tcp ", ports, " -m owner ", kind,
           " ", owner, " -j ISTIO_IN_REDIRECT");
    if (!captures_loopback_) {
      Append("nat", "ISTIO_OUTPUT", "-o lo ", dns_ ? "-p tcp ! --dport 53 " : "", "-m owner ! ", kind, " ",
             owner, " -j RETURN");
    }
    Append("nat", "ISTIO_OUTPUT", "-m owner ", kind, " ", owner, " -j RETURN");
  }

  void Owners() {
    if (options_.owner_groups == "*") {
      for (const std::string& group : Entries(options_.excluded_owner_groups))
        Append("nat", "ISTIO_OUTPUT", "-m owner --gid-owner ", group, " -j RETURN");
      return;
    }
    std::string none_of;
    for (const std::string& group : Entries(options_.owner_groups))
      StrAppend(&none_of, "-m owner ! --gid-owner ", group, " ");
    Append("nat", "ISTIO_OUTPUT", none_of, "-j RETURN");
  }

  void Dns() {
    const bool all = options_.capture_all_dns;
    Append("raw", "OUTPUT", "-j ISTIO_OUTPUT_DNS");
    if (all || !version_.resolvers.empty()) Append("nat", "ISTIO_OUTPUT", "-j ISTIO_OUTPUT_DNS");
    for (const std::string_view protocol : {"tcp", "udp"}) {
      for (const std::string& to : To("-d"))
        Append("nat", "ISTIO_OUTPUT_DNS", "-p ", protocol, " --dport 53", to, " -j REDIRECT --to-ports ",
               kDnsPort);
    }
    DnsZones();
  }

  // " -d ADDRESS/32" of each nameserver; with all DNS captured, one that says nothing.
  std::vector<std::string> To(std::string_view flag) const {
    if (options_.capture_all_dns) return {""};
    std::vector<std::string> all;
    all.reserve(version_.resolvers.size());
    for (const std::string& address : version_.resolvers)
      all.push_back(StrCat(" ", flag, " ", address, "/", version_.host_bits));
    return all;
  }

  // Connections of the workload to the agent's resolver and of that to the nameservers have the same
  // addresses and ports: they are kept apart.
  void DnsZones() {
    const auto own = [this](std::string_view kind, const std::string& owner) {
      Append("raw", "ISTIO_OUTPUT_DNS", "-p udp --dport 53 -m owner ", kind, " ", owner, " -j CT --zone 1");
      Append("raw", "ISTIO_OUTPUT_DNS", "-p udp --sport ", kDnsPort, " -m owner ", kind, " ", owner,
             " -j CT --zone 2");
    };
    for (const std::string& user : Entries(options_.proxy_users)) own("--uid-owner", user);
    for (const std::string& group : Entries(options_.proxy_groups)) own("--gid-owner", group);
    if (options_.capture_all_dns || !version_.resolvers.empty())
      Append("raw", "PREROUTING", "-j ISTIO_INBOUND");
    for (const std::string& to : To("-d"))
      Append("raw", "ISTIO_OUTPUT_DNS", "-p udp --dport 53", to, " -j CT --zone 2");
    for (const std::string& from : To("-s"))
      Append("raw", "ISTIO_INBOUND", "-p udp --sport 53", from, " -j CT --zone 1");
  }

  void SkipRanges() {
    Append("nat", "ISTIO_OUTPUT", "-d ", version_.loopback, " -j RETURN");
    for (const IpPrefix& range : version_.excluded)
      Append("nat", "ISTIO_OUTPUT", "-d ", range.ToString(), " -j RETURN");
  }

  void Outbound() {
    for (const std::string& port : Entries(options_.outbound_ports))
      Append("nat", "ISTIO_OUTPUT", "-p tcp --dport ", port, " -j ISTIO_REDIRECT");
    const auto interfaces = Entries(options_.virtual_interfaces);
    if (all_ranges_) {
      Append("nat", "ISTIO_OUTPUT", "-j ISTIO_REDIRECT");
      for (const std::string& name : interfaces)
        Insert("nat", "PREROUTING", 1, "-i ", name, " -j ISTIO_REDIRECT");
    }
    for (const IpPrefix& range : version_.ranges) {
      for (const std::string& name : interfaces)
        Insert("nat", "PREROUTING", 1, "-i ", name, " -d ", range.ToString(), " -j ISTIO_REDIRECT");
      Append("nat", "ISTIO_OUTPUT", "-d ", range.ToString(), " -j ISTIO_REDIRECT");
    }
  }

  // With TPROXY, the proxy's connections to the workload have the client's address: answers find the way back
  // by the mark of the connection.
  void KeepMarks() {
    const std::string& mark = options_.tproxy_mark;
    Append("mangle", "PREROUTING", "-p tcp -m mark --mark ", mark, " -j CONNMARK --save-mark");
    Append("mangle", "OUTPUT", "-p tcp -o lo -m mark --mark ", mark, " -j RETURN");
    const auto own = [this](std::string_view kind, const std::string& owner) {
      Append("mangle", "OUTPUT", "! -d ", version_.loopback, " -p tcp -o lo -m owner ", kind, " ", owner,
             " -j MARK --set-mark ", kOutboundMark);
    };
    for (const std::string& user : Entries(options_.proxy_users)) own("--uid-owner", user);
    for (const std::string& group : Entries(options_.proxy_groups)) own("--gid-owner", group);
    Append("mangle", "OUTPUT", "-p tcp -m connmark --mark ", mark, " -j CONNMARK --restore-mark");
    Insert("mangle", "ISTIO_INBOUND", 1, "-p tcp -m mark --mark ", mark, " -j RETURN");
    Insert("mangle", "ISTIO_INBOUND", 2, "-p tcp -s ", version_.inbound_source, " -i lo -j RETURN");
    Insert("mangle", "ISTIO_INBOUND", 3, "-p tcp -i lo -m mark ! --mark ", kOutboundMark, " -j RETURN");
  }

  const RedirectOptions& options_;
  const Version version_;
  const bool all_ranges_, captures_loopback_, dns_;
  std::vector<IptablesRule> rules_;
};

}  // namespace

absl::StatusOr<IptablesRules> MakeIptablesRules(const RedirectOptions& options) {
  auto excluded = ExcludedRanges(options);
  if (!excluded.ok()) return excluded.status();
  auto ranges = IncludedRanges(options);
  if (!ranges.ok()) return ranges.status();
  IptablesRules rules;
  rules.v4 = Maker(options,
                   {.loopback = options.loopback_range,
                    .inbound_source = "127.0.0.6/32",
                    .host_bits = "32",
                    .resolvers = options.resolvers_v4,
                    .ranges = std::move(ranges->v4),
                    .excluded = std::move(excluded->v4)},
                   ranges->all, ranges->has_loopback)
                 .Make();
  if (!options.ipv6) return rules;
  rules.v6 = Maker(options,
                   {.loopback = "::1/128",
                    .inbound_source = "::6/128",
                    .host_bits = "128",
                    .resolvers = options.resolvers_v6,
                    .ranges = std::move(ranges->v6),
                    .excluded = std::move(excluded->v6)},
                   ranges->all, ranges->has_loopback)
                 .Make();
  return rules;
}

}  // namespace fairlead::redirect
