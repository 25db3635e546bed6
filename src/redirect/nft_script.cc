#include "redirect/nft_script.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/excerpt.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::redirect {
namespace {

LogScope nft_log("iptables");

constexpr std::string_view kNat = "istio-proxy-nat", kMangle = "istio-proxy-mangle", kRaw = "istio-proxy-raw";
constexpr std::string_view kTcp = "meta l4proto tcp ";
constexpr int kAppend = -1;

struct ChainRow {
  std::string_view name;
  std::string_view hook;  // "": a chain that others jump to
};
struct TableRow {
  std::string_view name;
  std::vector<ChainRow> chains;
};

const std::vector<TableRow>& Tables() {
  static const auto* const kRows = new std::vector<TableRow>{
      {kNat,
       {{"prerouting", "type nat hook prerouting priority -100"},
        {"output", "type nat hook output priority -100"},
        {"istio-inbound", ""},
        {"istio-redirect", ""},
        {"istio-in-redirect", ""},
        {"istio-output", ""},
        {"istio-output-dns", ""}}},
      {kMangle,
       {{"prerouting", "type filter hook prerouting priority -150"},
        {"output", "type route hook output priority -150"},
        {"istio-divert", ""},
        {"istio-tproxy", ""},
        {"istio-inbound", ""},
        {"istio-drop", ""}}},
      {kRaw,
       {{"prerouting", "type filter hook prerouting priority -300"},
        {"output", "type filter hook output priority -300"},
        {"istio-inbound", ""},
        {"istio-output-dns", ""}}},
  };
  return *kRows;
}

struct NftRule {
  std::string_view table, chain;
  int index = kAppend;  // otherwise it goes before the rule of this index
  std::string text;
};

class NftMaker {
 public:
  NftMaker(const RedirectOptions& options, const Ranges& ranges, const Ranges& excluded)
      : options_(options), ranges_(ranges), excluded_(excluded), dns_(CapturesDns(options)) {}

  std::vector<NftRule> Make() {
    SkipInterfaces();
    if (options_.drop_invalid) {
      Append(kMangle, "prerouting", kTcp, "ct state invalid counter jump istio-drop");
      Append(kMangle, "istio-drop", "counter drop");
    }
    Append(kNat, "istio-inbound", kTcp, "tcp dport ", options_.tunnel_port, " counter return");
    Append(kNat, "istio-redirect", kTcp, "counter redirect to :", options_.outbound_port);
    Append(kNat, "istio-in-redirect", kTcp, "counter redirect to :", options_.inbound_port);
    if (!options_.inbound_ports.empty()) Inbound();
    Append(kNat, "output", "counter jump istio-output");
    for (const std::string& port : Entries(options_.excluded_outbound_ports)) {
      Append(kNat, "istio-output", "tcp dport ", port, " counter return");
      Append(kNat, "istio-output", "udp dport ", port, " counter return");
    }
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
    rules_.push_back({table, chain, kAppend, StrCat(pieces...)});
  }
  template <typename... Pieces>
  void Insert(std::string_view table, std::string_view chain, int index, const Pieces&... pieces) {
    rules_.push_back({table, chain, index, StrCat(pieces...)});
  }

  // Calls `add` with "ip daddr != 127.0.0.1/32 " or the like of each IP version.
  template <typename Add>
  void EachVersion(std::string_view field, std::string_view operation, std::string_view v4,
                   std::string_view v6, Add add) {
    add(StrCat("ip ", field, " ", operation, v4, " "));
    if (options_.ipv6) add(StrCat("ip6 ", field, " ", operation, v6, " "));
  }
  template <typename Add>
  void EachLoopback(std::string_view operation, Add add) {
    EachVersion("daddr", operation, options_.loopback_range, "::1/128", add);
  }
  // "ip daddr 10.96.0.10/32 " of each nameserver.
  template <typename Add>
  void EachResolver(std::string_view field, Add add) {
    for (const std::string& address : options_.resolvers_v4) add(StrCat("ip ", field, " ", address, "/32 "));
    if (!options_.ipv6) return;
    for (const std::string& address : options_.resolvers_v6)
      add(StrCat("ip6 ", field, " ", address, "/128 "));
  }

  // Calls `add` with "skuid" or "skgid" and the name.
  template <typename Add>
  void EachOwner(Add add) {
    for (const std::string& user : Entries(options_.proxy_users)) add("skuid", user);
    for (const std::string& group : Entries(options_.proxy_groups)) add("skgid", group);
  }

  void SkipInterfaces() {
    const auto skip = [&](std::string_view table) {
      for (const std::string& name : Entries(options_.excluded_interfaces)) {
        Append(table, "prerouting", "iifname ", name, " counter return");
        Append(table, "output", "oifname ", name, " counter return");
      }
    };
    skip(kNat);
    if (UsesTproxy(options_)) skip(kMangle);
    for (const std::string& name : Entries(options_.virtual_interfaces))
      Insert(kNat, "prerouting", 0, "iifname ", name, " counter return");
  }

  void Inbound() {
    const bool tproxy = UsesTproxy(options_);
    const std::string_view table = tproxy ? kMangle : kNat;
    const std::string& mark = options_.tproxy_mark;
    if (tproxy) {
      Append(kMangle, "istio-divert", "counter meta mark set ", mark);
      Append(kMangle, "istio-divert", "counter accept");
      EachLoopback("!= ", [&](const std::string& where) {
        Append(kMangle, "istio-tproxy", kTcp, where, "tproxy ", where.substr(0, where.find(' ')),
               " to :", options_.inbound_port, " meta mark set ", mark, " counter accept");
      });
    }
    Append(table, "prerouting", kTcp, "counter jump istio-inbound");
    if (options_.inbound_ports == "*") {
      for (const std::string& port : Entries(options_.excluded_inbound_ports))
        Append(table, "istio-inbound", kTcp, "tcp dport ", port, " counter return");
      Capture(table, "");
      return;
    }
    for (const std::string& port : Entries(options_.inbound_ports))
      Capture(table, StrCat("tcp dport ", port, " "));
  }

  void Capture(std::string_view table, std::string_view which) {
    if (table == kNat) {
      Append(kNat, "istio-inbound", kTcp, which, "counter jump istio-in-redirect");
      return;
    }
    Append(kMangle, "istio-inbound", kTcp, "ct state related,established ", which,
           "counter jump istio-divert");
    Append(kMangle, "istio-inbound", kTcp, which, "counter jump istio-tproxy");
  }

  void Proxy() {
    EachVersion("saddr", "", "127.0.0.6/32", "::6/128", [&](const std::string& where) {
      Append(kNat, "istio-output", "oifname lo ", where, "counter return");
    });
    EachOwner([&](std::string_view kind, const std::string& owner) {
      const bool not_dns = dns_ && kind == "skuid";
      const std::string ports = not_dns ? StrCat("{ 53, ", options_.tunnel_port, " }") : options_.tunnel_port;
      EachLoopback("!= ", [&](const std::string& where) {
        Append(kNat, "istio-output", "oifname lo ", kTcp, where, "tcp dport != ", ports, " ", kind, " ",
               owner, " counter jump istio-in-redirect");
      });
      if (!ranges_.has_loopback) {
        const std::string which = dns_ ? StrCat(kTcp, "tcp dport != 53 ") : "";
        Append(kNat, "istio-output", "oifname lo ", which, kind, " != ", owner, " counter return");
      }
      Append(kNat, "istio-output", kind, " ", owner, " counter return");
    });
  }

  void Owners() {
    if (options_.owner_groups == "*") {
      for (const std::string& group : Entries(options_.excluded_owner_groups))
        Append(kNat, "istio-output", "skgid ", group, " counter return");
      return;
    }
    std::string none_of;
    for (const std::string& group : Entries(options_.owner_groups))
      StrAppend(&none_of, "skgid != ", group, " ");
    Append(kNat, "istio-output", none_of, "counter return");
  }

  void Dns() {
    Append(kRaw, "output", "counter jump istio-output-dns");
    Append(kNat, "istio-output", "counter jump istio-output-dns");
    for (const std::string_view protocol : {"tcp", "udp"}) {
      const auto add = [&](const std::string& where) {
        Append(kNat, "istio-output-dns", where, protocol, " dport 53 counter redirect to :", kDnsPort);
      };
      if (options_.capture_all_dns) {
        add("");
      } else {
        EachResolver("daddr", add);
      }
    }
    EachOwner([&](std::string_view kind, const std::string& owner) {
      Append(kRaw, "istio-output-dns", "udp dport 53 meta ", kind, " ", owner, " counter ct zone set 1");
      Append(kRaw, "istio-output-dns", "udp sport ", kDnsPort, " meta ", kind, " ", owner,
             " counter ct zone set 2");
    });
    Append(kRaw, "prerouting", "counter jump istio-inbound");
    const auto to = [&](const std::string& where) {
      Append(kRaw, "istio-output-dns", "udp dport 53 ", where, "counter ct zone set 2");
    };
    const auto from = [&](const std::string& where) {
      Append(kRaw, "istio-inbound", "udp sport 53 ", where, "counter ct zone set 1");
    };
    if (options_.capture_all_dns) {
      to("");
      from("");
      return;
    }
    EachResolver("daddr", to);
    EachResolver("saddr", from);
  }

  // Calls `add` with "ip daddr 10.0.0.0/8 " of each range.
  template <typename Add>
  void EachRange(const Ranges& ranges, Add add) {
    for (const IpPrefix& range : ranges.v4) add(StrCat("ip daddr ", range.ToString(), " "));
    if (!options_.ipv6) return;
    for (const IpPrefix& range : ranges.v6) add(StrCat("ip6 daddr ", range.ToString(), " "));
  }

  void SkipRanges() {
    const auto skip = [&](const std::string& where) {
      Append(kNat, "istio-output", where, "counter return");
    };
    EachLoopback("", skip);
    EachRange(excluded_, skip);
  }

  void Outbound() {
    for (const std::string& port : Entries(options_.outbound_ports))
      Append(kNat, "istio-output", "tcp dport ", port, " counter jump istio-redirect");
    const auto interfaces = Entries(options_.virtual_interfaces);
    const auto from_machines = [&](const std::string& where) {
      for (const std::string& name : interfaces)
        Insert(kNat, "prerouting", 0, "iifname ", name, " ", where, "counter jump istio-redirect");
    };
    if (ranges_.all) {
      Append(kNat, "istio-output", "counter jump istio-redirect");
      from_machines("");
    }
    EachRange(ranges_, [&](const std::string& where) {
      from_machines(where);
      Append(kNat, "istio-output", where, "counter jump istio-redirect");
    });
  }

  void KeepMarks() {
    const std::string& mark = options_.tproxy_mark;
    Append(kMangle, "prerouting", kTcp, "mark ", mark, " counter ct mark set mark");
    Append(kMangle, "output", "oifname lo ", kTcp, "mark ", mark, " counter return");
    EachOwner([&](std::string_view kind, const std::string& owner) {
      EachLoopback("!= ", [&](const std::string& where) {
        Append(kMangle, "output", "oifname lo ", kTcp, where, kind, " ", owner, " counter meta mark set ",
               kOutboundMark);
      });
    });
    Append(kMangle, "output", kTcp, "ct mark ", mark, " counter meta mark set ct mark");
    Insert(kMangle, "istio-inbound", 0, kTcp, "mark ", mark, " counter return");
    EachVersion("saddr", "", "127.0.0.6/32", "::6/128", [&](const std::string& where) {
      Insert(kMangle, "istio-inbound", 1, "iifname lo ", kTcp, where, "counter return");
    });
    Insert(kMangle, "istio-inbound", 2, "iifname lo ", kTcp, "mark != ", kOutboundMark, " counter return");
  }

  const RedirectOptions& options_;
  const Ranges &ranges_, &excluded_;
  const bool dns_;
  std::vector<NftRule> rules_;
};

std::string TableText(const TableRow& table, const std::vector<NftRule>& rules) {
  std::map<std::string_view, int> counts;
  for (const NftRule& rule : rules) {
    if (rule.table == table.name) ++counts[rule.chain];
  }
  if (counts.empty()) return "";
  std::string text = StrCat("add table inet ", table.name, "\nflush table inet ", table.name, "\n");
  for (const ChainRow& chain : table.chains) {
    if (counts.count(chain.name) == 0) continue;
    const std::string hook = chain.hook.empty() ? "" : StrCat(" { ", chain.hook, " ; }");
    StrAppend(&text, "add chain inet ", table.name, " ", chain.name, hook, "\n");
  }
  counts.clear();
  for (const NftRule& rule : rules) {
    if (rule.table != table.name) continue;
    int& count = counts[rule.chain];
    // None can be inserted behind the last.
    const bool inserted = rule.index != kAppend && rule.index < count;
    StrAppend(&text, inserted ? "insert" : "add", " rule inet ", table.name, " ", rule.chain,
              inserted ? StrCat(" index ", rule.index) : "", " ", rule.text, "\n");
    ++count;
  }
  return text;
}

absl::StatusOr<std::vector<NftRule>> MakeNftRules(const RedirectOptions& options) {
  const auto excluded = ExcludedRanges(options);
  if (!excluded.ok()) return excluded.status();
  const auto ranges = IncludedRanges(options);
  if (!ranges.ok()) return ranges.status();
  return NftMaker(options, *ranges, *excluded).Make();
}

absl::Status Failed(const ProgramResult& result) {
  return absl::UnavailableError(StrCat("nft: ", OnOneLine(Excerpt(Trim(result.error), 500))));
}

}  // namespace

absl::StatusOr<std::string> MakeNftScript(const RedirectOptions& options) {
  const auto rules = MakeNftRules(options);
  if (!rules.ok()) return rules.status();
  std::string text;
  for (const TableRow& table : Tables()) {
    if (options.clean_up) {
      StrAppend(&text, "add table inet ", table.name, "\ndelete table inet ", table.name, "\n");
    } else {
      text += TableText(table, *rules);
    }
  }
  return text;
}

absl::Status ApplyNft(const RedirectOptions& options, const RunProgram& run) {
  const auto script = MakeNftScript(options);
  if (!script.ok()) return script.status();
  nft_log.Debug("nft -f -:\n{}", *script);
  const ProgramResult result = run({{"nft", "-f", "-"}, *script});
  return result.ok() ? absl::OkStatus() : Failed(result);
}

absl::Status VerifyNft(const RedirectOptions& options, const RunProgram& run) {
  const auto rules = MakeNftRules(options);
  if (!rules.ok()) return rules.status();
  for (const TableRow& table : Tables()) {
    const auto wanted = std::count_if(rules->begin(), rules->end(),
                                      [&](const NftRule& rule) { return rule.table == table.name; });
    if (wanted == 0) continue;
    const ProgramResult result = run({{"nft", "list", "table", "inet", std::string(table.name)}, ""});
    if (!result.ok()) return absl::NotFoundError(StrCat("there is no table inet ", table.name));
    ptrdiff_t found = 0;
    for (std::string_view line : Split(result.output, '\n')) {
      if (line.find(" counter ") != std::string_view::npos || Trim(line).starts_with("counter ")) ++found;
    }
    if (found != wanted)
      return absl::NotFoundError(
          StrCat("table inet ", table.name, " has ", found, " rules instead of ", wanted));
  }
  return absl::OkStatus();
}

}  // namespace fairlead::redirect
