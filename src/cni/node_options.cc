#include "cni/node_options.h"

#include <charconv>
#include <string_view>

#include "base/closest_name.h"
#include "base/go_bool.h"
#include "base/strings.h"

namespace fairlead::cni {
namespace {

enum class FlagKind : uint8_t { kText, kSwitch, kNumber };

struct NodeFlag {
  std::string_view name;
  std::string NodeOptions::*value;
  std::string_view meaning;
  FlagKind kind = FlagKind::kText;
};

using O = NodeOptions;
constexpr auto kSwitch = FlagKind::kSwitch;
const NodeFlag kFlags[] = {
    {"mounted-cni-net-dir", &O::network_folder, "install: folder of the node's network configurations"},
    {"cni-conf-name", &O::network_file, "install: file in it; by default the first network configuration"},
    {"cni-bin-dir", &O::binary_folder, "install: folder of the node's plugins"},
    {"plugin-name", &O::plugin_name, "install: name of the plugin's program and type"},
    {"cni-agent-run-dir", &O::run_folder, "install: folder of the plugin's kubeconfig, here and on the node"},
    {"service-account-dir", &O::account_folder, "install: folder of the token for that kubeconfig"},
    {"kube-ca-file", &O::roots_file, "install: roots for that kubeconfig; by default those of the account"},
    {"skip-tls-verify", &O::unverified, "install: no roots in that kubeconfig", kSwitch},
    {"exclude-namespaces", &O::excluded_namespaces, "install: namespaces without redirection"},
    {"pod-namespace", &O::own_namespace, "install: namespace of this pod, which the plugin leaves alone"},
    {"chained-cni-plugin", &O::chained, "install: the plugin follows others in their list", kSwitch},
    {"native-nftables", &O::native_nftables, "rules by nft instead of iptables", kSwitch},
    {"log-level", &O::plugin_log_level, "install: level of the plugin's log"},
    {"once", &O::once, "install: end after the installation", kSwitch},
    {"cleanup-on-exit", &O::clean_up, "install: undo the installation at the end", kSwitch},
    {"kubeconfig", &O::kubeconfig, "repair: of the API server; by default this pod's account"},
    {"repair-node-name", &O::node, "repair: this node; also NODE_NAME"},
    {"repair-repair-pods", &O::repair_pods, "repair: add the missing rules", kSwitch},
    {"repair-delete-pods", &O::delete_pods, "repair: delete broken pods", kSwitch},
    {"repair-label-pods", &O::label_pods, "repair: label broken pods", kSwitch},
    {"repair-broken-pod-label-key", &O::label, "repair: that label"},
    {"repair-broken-pod-label-value", &O::label_value, "repair: its value"},
    {"repair-sidecar-annotation", &O::annotation,
     "repair: annotation of pods with a sidecar; empty: all pods"},
    {"repair-init-container-name", &O::container, "repair: init container that fails; empty: each"},
    {"repair-init-container-exit-code", &O::exit_code, "repair: its exit status; 0: each", FlagKind::kNumber},
    {"repair-init-container-termination-message", &O::message, "repair: its last words; empty: any"},
    {"repair-label-selectors", &O::label_selector, "repair: labels of pods"},
    {"repair-field-selectors", &O::field_selector, "repair: fields of pods"},
    {"host-proc", &O::process_folder, "repair: the node's /proc"},
    {"log_output_level", &O::log_level, "levels of the log: LEVEL or SCOPE:LEVEL,…"},
};

absl::Status Check(const NodeFlag& flag, std::string_view called, std::string* value) {
  if (flag.kind == FlagKind::kSwitch) {
    if (const auto parsed = ParseGoBool(*value)) {
      *value = *parsed ? "true" : "false";
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(StrCat(called, ": \"", *value, "\" is neither true nor false"));
  }
  if (flag.kind == FlagKind::kNumber) {
    int number = 0;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
    if (error != std::errc() || end != value->data() + value->size())
      return absl::InvalidArgumentError(StrCat(called, ": \"", *value, "\" is no number"));
  }
  return absl::OkStatus();
}

absl::Status Set(const NodeFlag& flag, std::string_view called, std::string value, NodeOptions* options) {
  if (absl::Status status = Check(flag, called, &value); !status.ok()) return status;
  options->*flag.value = std::move(value);
  return absl::OkStatus();
}

absl::Status Unknown(std::string_view word) {
  std::vector<std::string> names;
  for (const NodeFlag& flag : kFlags) names.push_back(StrCat("--", flag.name));
  const std::string meant = ClosestName(word, names);
  return absl::InvalidArgumentError(
      StrCat(word, ": there is no such flag", meant.empty() ? "" : StrCat("; did you mean ", meant, "?")));
}

absl::Status ReadFlag(const std::vector<std::string>& arguments, size_t* at, NodeOptions* options) {
  const std::string_view word = arguments[*at];
  const size_t equals = word.find('=');
  const std::string_view called = word.substr(0, equals);
  for (const NodeFlag& flag : kFlags) {
    if (called != StrCat("--", flag.name)) continue;
    if (equals != std::string_view::npos)
      return Set(flag, called, std::string(word.substr(equals + 1)), options);
    if (flag.kind == FlagKind::kSwitch) return Set(flag, called, "true", options);
    if (*at + 1 == arguments.size())
      return absl::InvalidArgumentError(StrCat(called, ": a value must follow"));
    return Set(flag, called, arguments[++*at], options);
  }
  return Unknown(word);
}

}  // namespace

absl::StatusOr<NodeOptions> ReadNodeOptions(const std::vector<std::string>& arguments,
                                            const std::function<const char*(const char*)>& get) {
  NodeOptions options;
  const auto value = [&](const std::string& name) {
    return std::string(get(name.c_str()) == nullptr ? "" : get(name.c_str()));
  };
  options.api_host = value("KUBERNETES_SERVICE_HOST");
  options.api_port = value("KUBERNETES_SERVICE_PORT");
  options.node = value("NODE_NAME");
  for (const NodeFlag& flag : kFlags) {
    const std::string name = AsciiUpper(ReplaceAll(flag.name, "-", "_"));
    // These are common names of something else.
    if (name == "KUBECONFIG" || name == "LOG_LEVEL" || name == "ONCE" || get(name.c_str()) == nullptr)
      continue;
    if (absl::Status status = Set(flag, name, value(name), &options); !status.ok()) return status;
  }
  for (size_t at = 0; at < arguments.size() && !options.help; ++at) {
    if (arguments[at] == "--help" || arguments[at] == "-h") {
      options.help = true;
    } else if (absl::Status status = ReadFlag(arguments, &at, &options); !status.ok()) {
      return status;
    }
  }
  return options;
}

std::string NodeUsage() {
  constexpr size_t kColumn = 44;
  std::string text =
      "usage: fairlead cni                    the plugin, called by a container runtime\n"
      "       fairlead cni install [flags]    installs it on this node, and keeps it installed\n"
      "       fairlead cni repair [flags]     repairs pods that started without it\n"
      "A flag's variable has its name in upper case with _ instead of -.\nflags:\n";
  const NodeOptions defaults;
  for (const NodeFlag& flag : kFlags) {
    const std::string& fallback = defaults.*flag.value;
    const std::string name = StrCat("--", flag.name);
    StrAppend(&text, "  ", name, std::string(name.size() < kColumn ? kColumn - name.size() : 1, ' '),
              flag.meaning, fallback.empty() || fallback == "false" ? "" : StrCat(" [", fallback, "]"), "\n");
  }
  return text;
}

}  // namespace fairlead::cni
