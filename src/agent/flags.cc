#include "agent/flags.h"

#include <charconv>
#include <functional>
#include <string_view>
#include <utility>

#include "agent/bootstrap/proxy_config.h"
#include "agent/variables.h"
#include "base/closest_name.h"
#include "base/go_bool.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using absl::InvalidArgumentError;

// A row of the table of flags: what a flag means, what its value is unless it is given, and how it gets into
// the options.
struct Flag {
  std::string_view name, meaning;
  std::string fallback;
  std::function<absl::Status(std::string_view value, Options*)> set;
  bool is_switch = false;  // true without a value
};

absl::Status ParseInt(std::string_view name, std::string_view text, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size()) return absl::OkStatus();
  return InvalidArgumentError(StrCat(name, ": '", text, "' is not a number"));
}

Flag Text(std::string_view name, std::string Options::*member, std::string_view meaning) {
  return {name, meaning, Options().*member, [member](std::string_view value, Options* o) {
            o->*member = value;
            return absl::OkStatus();
          }};
}
Flag Number(std::string_view name, int Options::*member, std::string_view meaning) {
  return {name, meaning, StrCat(Options().*member),
          [=](std::string_view value, Options* o) { return ParseInt(name, value, &(o->*member)); }};
}
Flag Duration(std::string_view name, std::chrono::milliseconds Options::*member, std::string_view meaning) {
  return {name, meaning, StrCat((Options().*member).count() / 1000, "s"),
          [=](std::string_view value, Options* o) {
            const auto parsed = ParseDuration(value);
            if (!parsed)
              return InvalidArgumentError(StrCat(name, ": '", value, "' is not a duration such as 45s"));
            o->*member = *parsed;
            return absl::OkStatus();
          }};
}
// Of pilot-agent, without meaning here.
Flag Idle(std::string_view name, std::string fallback, std::string_view why, bool is_switch = false) {
  return {name, why, std::move(fallback), [](std::string_view, Options*) { return absl::OkStatus(); },
          is_switch};
}

// Where the agent's own log goes: stdout unless it is given, which may be often.
Flag LogTarget() {
  return {"--log_target", "target of the agent's log: stdout, stderr or a file; may be repeated", "stdout",
          [first = true](std::string_view value, Options* o) mutable {
            if (std::exchange(first, false)) o->own_log.targets.clear();
            o->own_log.targets.emplace_back(value);
            return absl::OkStatus();
          }};
}
Flag LogAsJson() {
  return {.name = "--log_as_json",
          .meaning = "each line of the agent's log, and of Envoy's, is a JSON object",
          .fallback = "false",
          .set =
              [](std::string_view value, Options* o) {
                const auto parsed = ParseGoBool(value);
                o->own_log.as_json = parsed.value_or(false);
                return parsed ? absl::OkStatus()
                              : InvalidArgumentError(
                                    StrCat("--log_as_json: '", value, "' is neither true nor false"));
              },
          .is_switch = true};
}

// Zero is as if it were not given.
Flag Concurrency() {
  return {"--concurrency", "Envoy's worker threads; 0: the ProxyConfig's, or Envoy's choice", "0",
          [](std::string_view value, Options* o) {
            int threads = 0;
            absl::Status status = ParseInt("--concurrency", value, &threads);
            if (threads != 0) o->concurrency = threads;
            return status;
          }};
}

std::vector<Flag> MakeFlags() {
  constexpr std::string_view kOwnLog = "without meaning here: logs are rotated by others";
  return {
      Text("--discoveryAddress", &Options::discovery_address, "the control plane, HOST:PORT"),
      Text("--binaryPath", &Options::binary, "Envoy; without a file at the default place, envoy in PATH"),
      Text("--configPath", &Options::config_folder, "folder for the bootstrap"),
      Text("--meshConfig", &Options::mesh_config_file, "file of a MeshConfig, whose defaultConfig counts"),
      Number("--proxyAdminPort", &Options::admin_port, "Envoy's administration interface, on loopback"),
      Number("--envoyPrometheusPort", &Options::prometheus_port, "/stats/prometheus; 0: none"),
      Number("--statusPort", &Options::status_port, "the agent's probes and metrics; 0: none"),
      Number("--envoyStatusPort", &Options::envoy_status_port, "Envoy's listener that leads there; 0: none"),
      Concurrency(),
      Text("--proxyLogLevel", &Options::log_level, "level of Envoy's log: LEVEL,COMPONENT:LEVEL,…"),
      Text("--proxyComponentLogLevel", &Options::component_log_level,
           "levels of Envoy's components, COMPONENT:LEVEL,…"),
      Text("--serviceCluster", &Options::service_cluster,
           "the node's cluster where the ProxyConfig's is empty"),
      Text("--domain", &Options::domain, "the node's domain; NAMESPACE.svc.cluster.local by default"),
      Text("--outlierLogPath", &Options::outlier_log_path, "Envoy's log of outlier detection"),
      Duration("--drainDuration", &Options::drain_duration, "Envoy's time to drain a removed listener"),
      Duration("--terminationDrainDuration", &Options::termination_drain_duration,
               "time from SIGTERM to Envoy's end"),
      Number("--baseId", &Options::base_id, "Envoy's base id; -1: no hot restart"),
      Number("--stsPort", &Options::sts_port, "told to the control plane; nobody serves it"),
      Text("--templateFile", &Options::template_file,
           "told to the control plane; the bootstrap is built in, and ISTIO_BOOTSTRAP_OVERRIDE changes it"),
      Idle("--tokenManagerPlugin", "", "without meaning here: there is no token exchange"),
      Idle("--profiling", "true", "without meaning here: for Go's profiles", true),
      Text("--log_output_level", &Options::own_log_level, "the agent's log: LEVEL or SCOPE:LEVEL,…"),
      Text("--log_caller", &Options::own_log_caller, "scopes whose lines include their place in the sources"),
      LogTarget(),
      LogAsJson(),
      Idle("--log_stacktrace_level", "default:none", "without meaning here: there are no stack traces"),
      Idle("--log_rotate", "", kOwnLog),
      Idle("--log_rotate_max_age", "30", kOwnLog),
      Idle("--log_rotate_max_backups", "1000", kOwnLog),
      Idle("--log_rotate_max_size", "104857600", kOwnLog),
      Idle("--vklog", "0", "without meaning here: for Kubernetes' Go client"),
  };
}

void AppendRow(std::string_view name, std::string_view meaning, std::string* text) {
  constexpr size_t kColumn = 34;
  StrAppend(text, "  ", name, std::string(name.size() < kColumn ? kColumn - name.size() : 1, ' '), meaning,
            "\n");
}

bool IsRole(std::string_view word) {
  for (const std::string_view role : {"sidecar", "router", "waypoint", "ztunnel", "agentgateway"}) {
    if (word == role) return true;
  }
  return false;
}

// "--flag=value", "--flag value", or "--flag" of a switch.
class ArgumentReader {
 public:
  ArgumentReader(const std::vector<std::string>& arguments, Options* options)
      : arguments_(arguments), options_(options) {}

  absl::Status Read() {
    for (at_ = 0; at_ < arguments_.size(); ++at_) {
      const std::string& word = arguments_[at_];
      if (word == "--help" || word == "-h") return absl::UnavailableError(AgentUsage());
      if (absl::Status status = word.starts_with('-') ? ReadFlag(word) : ReadWord(word); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadWord(const std::string& word) {
    if (!std::exchange(has_role_, true)) return ReadRole(word);
    options_->remarks.push_back(StrCat(word, ": behind the role, passed over"));
    return absl::OkStatus();
  }
  absl::Status ReadRole(const std::string& word) {
    if (!IsRole(word)) return InvalidArgumentError(StrCat(word, ": no role; roles are sidecar and router"));
    options_->type = word;
    return absl::OkStatus();
  }
  absl::Status ReadFlag(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Flag* flag = nullptr;
    for (const Flag& one : flags_) {
      if (one.name == name) flag = &one;
    }
    const bool has_value = equals != std::string::npos;
    if (flag == nullptr) return PassOver(name, has_value);
    if (flag->is_switch && !has_value) return flag->set("true", options_);
    if (!has_value && ++at_ == arguments_.size())
      return InvalidArgumentError(StrCat(name, ": a value must follow"));
    return flag->set(has_value ? word.substr(equals + 1) : arguments_[at_], options_);
  }
  // With the word behind it, which may be its value.
  absl::Status PassOver(const std::string& name, bool has_value) {
    std::vector<std::string> known;
    for (const Flag& flag : flags_) known.emplace_back(flag.name);
    const std::string meant = ClosestName(name, known);
    options_->remarks.push_back(StrCat(name, ": unknown, passed over", meant.empty() ? "" : "; did you mean ",
                                       meant, meant.empty() ? "" : "?"));
    if (!has_value && at_ + 1 < arguments_.size() && !arguments_[at_ + 1].starts_with('-')) ++at_;
    return absl::OkStatus();
  }

  const std::vector<std::string>& arguments_;
  Options* const options_;
  const std::vector<Flag> flags_ = MakeFlags();
  size_t at_ = 0;
  bool has_role_ = false;
};

}  // namespace

std::string AgentUsage() {
  std::string text =
      "usage: fairlead agent [sidecar|router|bootstrap [sidecar|router]|grpc-bootstrap] [flags]\nflags:\n";
  for (const Flag& flag : MakeFlags()) {
    const bool none = flag.fallback.empty() || flag.fallback == "-1";
    AppendRow(flag.name, none ? std::string(flag.meaning) : StrCat(flag.meaning, " [", flag.fallback, "]"),
              &text);
  }
  text.append("environment:\n");
  for (const AgentVariable& variable : AgentVariables()) {
    AppendRow(variable.name,
              variable.fallback.empty() ? std::string(variable.meaning)
                                        : StrCat(variable.meaning, " [", variable.fallback, "]"),
              &text);
  }
  return text;
}

absl::Status ReadFlags(const std::vector<std::string>& arguments, Options* options) {
  return ArgumentReader(arguments, options).Read();
}

}  // namespace fairlead::agent
