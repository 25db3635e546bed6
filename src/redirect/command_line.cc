#include "redirect/command_line.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/closest_name.h"
#include "base/duration.h"
#include "base/go_bool.h"
#include "base/strings.h"

namespace fairlead::redirect {
namespace {

using Text = std::string RedirectOptions::*;
using Switch = bool RedirectOptions::*;
using Port = uint16_t RedirectOptions::*;
using Time = std::chrono::nanoseconds RedirectOptions::*;

// A flag; its variable has its name, unless it has none.
struct FlagRow {
  std::string_view name;
  char letter;  // 0: none
  std::variant<Text, Switch, Port, Time> value;
  std::string_view meaning;
  std::string_view other_variable = "";
  bool has_variable = true;
};

using O = RedirectOptions;
const FlagRow kFlags[] = {
    {"envoy-port", 'p', &O::outbound_port, "port of the proxy for outbound connections", "", false},
    {"inbound-capture-port", 'z', &O::inbound_port, "port of the proxy for inbound connections"},
    {"inbound-tunnel-port", 'e', &O::tunnel_port, "port of HBONE, never redirected"},
    {"proxy-uid", 'u', &O::proxy_users,
     "users with traffic of the proxy; by default of ENVOY_USER, else 1337"},
    {"proxy-gid", 'g', &O::proxy_groups, "groups with traffic of the proxy; by default the users"},
    {"istio-inbound-interception-mode", 'm', &O::mode,
     "REDIRECT or TPROXY, which keeps the client's address"},
    {"istio-inbound-ports", 'b', &O::inbound_ports, "inbound ports, or * for all; empty: none"},
    {"istio-local-exclude-ports", 'd', &O::excluded_inbound_ports, "inbound ports besides, with * alone"},
    {"istio-exclude-interfaces", 'c', &O::excluded_interfaces, "interfaces without redirection"},
    {"istio-service-cidr", 'i', &O::ranges, "outbound ranges, or * for all; empty: none"},
    {"istio-service-exclude-cidr", 'x', &O::excluded_ranges, "outbound ranges without redirection"},
    {"istio-outbound-ports", 'q', &O::outbound_ports, "outbound ports, whatever the range"},
    {"istio-local-outbound-ports-exclude", 'o', &O::excluded_outbound_ports,
     "outbound ports without redirection"},
    {"kube-virt-interfaces", 'k', &O::virtual_interfaces,
     "interfaces of virtual machines: their inbound traffic counts as outbound"},
    {"istio-inbound-tproxy-mark", 't', &O::tproxy_mark, "mark of packets, with TPROXY"},
    {"istio-inbound-tproxy-route-table", 'r', &O::tproxy_table,
     "routing table of marked packets, with TPROXY"},
    {"dry-run", 'n', &O::dry_run, "print the commands instead"},
    {"iptables-probe-port", 0, &O::probe_port, "port of --run-validation"},
    {"probe-timeout", 0, &O::probe_timeout, "time limit of --run-validation"},
    {"skip-rule-apply", 0, &O::skip_rules, "change no rules"},
    {"run-validation", 0, &O::check_rules, "probe the rules; exit status 126 if they do not work"},
    {"redirect-dns", 0, &O::redirect_dns, "DNS goes to the agent, port 15053", "ISTIO_META_DNS_CAPTURE"},
    {"drop-invalid", 0, &O::drop_invalid, "drop packets of no known connection", "INVALID_DROP"},
    {"dual-stack", 0, &O::dual_stack, "IPv4 and IPv6 rules", "ISTIO_DUAL_STACK"},
    {"capture-all-dns", 0, &O::capture_all_dns, "all DNS, not only to nameservers of /etc/resolv.conf"},
    {"network-namespace", 0, &O::network_namespace, "file of the network namespace; the lock of --cni-mode"},
    {"cni-mode", 0, &O::cni_mode, "the network namespace is a pod's, the files are the node's"},
    {"reconcile", 0, &O::reconcile, "replace rules of an earlier call"},
    {"cleanup-only", 0, &O::clean_up, "take rules away, add none"},
    {"force-apply", 0, &O::force, "apply rules although they are there"},
    {"native-nftables", 0, &O::native_nftables, "rules by nft instead of iptables"},
    {"force-iptables-binary", 0, &O::forced_binary, "legacy or nft; by default found out"},
};

struct VariableRow {
  std::string_view name, meaning;
  Text value;  // null: of the call
};
const VariableRow kVariables[] = {
    {"ISTIO_OUTBOUND_OWNER_GROUPS", "groups with redirected outbound traffic, names or numbers; * by default",
     &O::owner_groups},
    {"ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE", "groups without redirected outbound traffic, with * alone",
     &O::excluded_owner_groups},
    {"ISTIO_OUTBOUND_IPV4_LOOPBACK_CIDR", "the workload's own loopback range; 127.0.0.1/32 by default",
     &O::loopback_range},
    {"DRY_RUN_FILE_PATH", "file for the commands of --dry-run; by default standard output", &O::dry_run_file},
};

// What the log takes, as every command of pilot-agent.
struct LogRow {
  std::string_view name, meaning;
  absl::Status (*set)(std::string_view value, RedirectCall* call);
  bool is_switch = false;
};

absl::Status SetAsJson(std::string_view value, RedirectCall* call) {
  const auto parsed = ParseGoBool(value);
  if (!parsed)
    return absl::InvalidArgumentError(StrCat("--log_as_json: \"", value, "\" is neither true nor false"));
  call->log.as_json = *parsed;
  return absl::OkStatus();
}

const LogRow kLog[] = {
    {"log_output_level", "levels of the log: LEVEL or SCOPE:LEVEL,…",
     [](std::string_view value, RedirectCall* call) {
       call->log_level = value;
       return absl::OkStatus();
     }},
    {"log_caller", "scopes whose lines include their place in the sources",
     [](std::string_view value, RedirectCall* call) {
       call->log_callers = value;
       return absl::OkStatus();
     }},
    {"log_target", "target of the log: stdout, stderr or a file",
     [](std::string_view value, RedirectCall* call) {
       call->log.targets = {std::string(value)};
       return absl::OkStatus();
     }},
    {"log_as_json", "each line of the log is a JSON object", SetAsJson, true},
    {"log_stacktrace_level", "without effect",
     [](std::string_view, RedirectCall*) { return absl::OkStatus(); }},
    {"vklog", "without effect", [](std::string_view, RedirectCall*) { return absl::OkStatus(); }},
};

absl::Status Wrong(std::string_view flag, std::string_view value, std::string_view why) {
  return absl::InvalidArgumentError(StrCat(flag, ": \"", value, "\" ", why));
}

absl::Status Set(const FlagRow& flag, std::string_view called, std::string_view value,
                 RedirectOptions* options) {
  if (const auto* text = std::get_if<Text>(&flag.value)) {
    options->*(*text) = value;
  } else if (const auto* on = std::get_if<Switch>(&flag.value)) {
    const auto parsed = ParseGoBool(value);
    if (!parsed) return Wrong(called, value, "is neither true nor false");
    options->*(*on) = *parsed;
  } else if (const auto* port = std::get_if<Port>(&flag.value)) {
    uint16_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) return Wrong(called, value, "is no port");
    options->*(*port) = number;
  } else if (const auto* time = std::get_if<Time>(&flag.value)) {
    const auto parsed = ParseGoDuration(value);
    if (!parsed) return Wrong(called, value, "is no duration such as 5s");
    options->*(*time) = *parsed;
  }
  return absl::OkStatus();
}

bool IsSwitch(const FlagRow& flag) { return std::holds_alternative<Switch>(flag.value); }

std::string VariableOf(const FlagRow& flag) {
  return flag.has_variable ? AsciiUpper(ReplaceAll(flag.name, "-", "_")) : "";
}

void ReadVariables(const Variables& variables, RedirectCall* call) {
  for (const FlagRow& flag : kFlags) {
    for (const std::string& name : {VariableOf(flag), std::string(flag.other_variable)}) {
      const auto found = variables.find(name);
      if (name.empty() || found == variables.end()) continue;
      const absl::Status status = Set(flag, name, found->second, &call->options);
      if (status.ok()) continue;
      call->remarks.emplace_back(FromAbsl(status.message()));
      // As Go's flags do, which take the value before they refuse it.
      if (const auto* on = std::get_if<Switch>(&flag.value)) call->options.*(*on) = false;
    }
  }
  for (const VariableRow& row : kVariables) {
    if (const auto found = variables.find(row.name); found != variables.end())
      call->options.*row.value = found->second;
  }
  if (const auto user = variables.find("ENVOY_USER"); user != variables.end())
    call->proxy_user = user->second;
}

class Reader {
 public:
  Reader(const std::vector<std::string>& arguments, RedirectCall* call)
      : arguments_(arguments), call_(call) {}

  absl::Status Read() {
    for (; at_ < arguments_.size(); ++at_) {
      const std::string_view word = arguments_[at_];
      absl::Status status;
      if (word == "--") break;
      if (word.starts_with("--")) {
        status = ReadLong(word.substr(2));
      } else if (word.size() > 1 && word[0] == '-') {
        status = ReadLetters(word.substr(1));
      } else {
        call_->remarks.push_back(StrCat("the word \"", word, "\" has no effect"));
      }
      if (!status.ok() || call_->help) return status;
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status Unknown(std::string_view word) {
    std::vector<std::string> names;
    for (const FlagRow& flag : kFlags) names.push_back(StrCat("--", flag.name));
    const std::string meant = ClosestName(word, names);
    return absl::InvalidArgumentError(
        StrCat(word, ": there is no such flag", meant.empty() ? "" : StrCat("; did you mean ", meant, "?")));
  }

  // The value behind "=", else the next word, else that of a switch.
  absl::StatusOr<std::string_view> ValueOf(std::string_view called, std::optional<std::string_view> given,
                                           bool is_switch) {
    if (given) return *given;
    if (is_switch) return std::string_view("true");
    if (at_ + 1 == arguments_.size())
      return absl::InvalidArgumentError(StrCat(called, ": a value must follow"));
    return std::string_view(arguments_[++at_]);
  }

  absl::Status ReadLong(std::string_view word) {
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::string called = StrCat("--", name);
    std::optional<std::string_view> given;
    if (equals != std::string_view::npos) given = word.substr(equals + 1);
    if (name == "help") {
      call_->help = true;
      return absl::OkStatus();
    }
    for (const FlagRow& flag : kFlags) {
      if (flag.name != name) continue;
      const auto value = ValueOf(called, given, IsSwitch(flag));
      return value.ok() ? Set(flag, called, *value, &call_->options) : value.status();
    }
    for (const LogRow& row : kLog) {
      if (row.name != name) continue;
      const auto value = ValueOf(called, given, row.is_switch);
      return value.ok() ? row.set(*value, call_) : value.status();
    }
    return Unknown(called);
  }

  // "-p15001", "-p=15001", "-p 15001", "-np 15001".
  absl::Status ReadLetters(std::string_view letters) {
    while (!letters.empty()) {
      const char letter = letters[0];
      const std::string called = StrCat("-", letter);
      letters.remove_prefix(1);
      if (letter == 'h') {
        call_->help = true;
        return absl::OkStatus();
      }
      const FlagRow* found = nullptr;
      for (const FlagRow& flag : kFlags) {
        if (flag.letter == letter) found = &flag;
      }
      if (found == nullptr) return Unknown(called);
      std::optional<std::string_view> given;
      const bool equals = letters.starts_with("=");
      if (equals || (!letters.empty() && !IsSwitch(*found))) {
        given = letters.substr(equals ? 1 : 0);
        letters = {};
      }
      const auto value = ValueOf(called, given, IsSwitch(*found));
      if (!value.ok()) return value.status();
      if (absl::Status status = Set(*found, called, *value, &call_->options); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const std::vector<std::string>& arguments_;
  RedirectCall* const call_;
  size_t at_ = 0;
};

std::string FallbackOf(const FlagRow& flag) {
  const RedirectOptions defaults;
  if (const auto* text = std::get_if<Text>(&flag.value)) return defaults.*(*text);
  if (const auto* port = std::get_if<Port>(&flag.value)) return StrCat(defaults.*(*port));
  if (std::holds_alternative<Time>(flag.value)) return "5s";
  return "";
}

void AppendRow(std::string_view name, std::string_view meaning, std::string* text) {
  constexpr size_t kColumn = 42;
  StrAppend(text, "  ", name, std::string(name.size() < kColumn ? kColumn - name.size() : 1, ' '), meaning,
            "\n");
}

}  // namespace

absl::StatusOr<RedirectCall> ReadCall(const std::vector<std::string>& arguments, const Variables& variables) {
  RedirectCall call;
  ReadVariables(variables, &call);
  if (absl::Status status = Reader(arguments, &call).Read(); !status.ok()) return status;
  return call;
}

std::string IptablesUsage() {
  std::string text =
      "usage: fairlead agent iptables [flags]\n"
      "Redirects the traffic of this network namespace to its proxy, as istio-iptables does. A flag's "
      "variable has\n"
      "its name in upper case with _ instead of -.\nflags:\n";
  for (const FlagRow& flag : kFlags) {
    const std::string letter = flag.letter == 0 ? "" : StrCat("-", flag.letter, ", ");
    const std::string fallback = FallbackOf(flag);
    AppendRow(StrCat(letter, "--", flag.name),
              fallback.empty() ? std::string(flag.meaning) : StrCat(flag.meaning, " [", fallback, "]"),
              &text);
  }
  for (const LogRow& row : kLog) AppendRow(StrCat("--", row.name), row.meaning, &text);
  text += "environment:\n";
  for (const FlagRow& flag : kFlags) {
    if (!flag.other_variable.empty()) AppendRow(flag.other_variable, StrCat("as --", flag.name), &text);
  }
  for (const VariableRow& row : kVariables) AppendRow(row.name, row.meaning, &text);
  AppendRow("ENVOY_USER", "user of the proxy, looked up in /etc/passwd; istio-proxy by default", &text);
  return text;
}

}  // namespace fairlead::redirect
