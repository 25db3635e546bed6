#include "agent/options.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <charconv>
#include <functional>
#include <optional>
#include <utility>

#include "agent/module_sources.h"
#include "agent/proxy_config.h"
#include "base/closest_name.h"
#include "base/json.h"
#include "base/strings.h"

extern char** environ;

namespace fairlead::agent {
namespace {

using absl::InvalidArgumentError;
using nlohmann::json;

// The Istio whose proxies Envoy stands in for.
constexpr char kIstioVersion[] = "1.32.0";
constexpr std::string_view kMetadataPrefix = "ISTIO_META_";
constexpr std::string_view kJsonMetadataPrefix = "ISTIO_METAJSON_";

std::string Value(const Environment& environment, std::string_view name, std::string_view fallback = "") {
  auto it = environment.find(name);
  return it == environment.end() || it->second.empty() ? std::string(fallback) : it->second;
}

// The addresses of the interfaces that are up, loopback and link-local ones left out; IPv4 first.
std::vector<std::string> InterfaceAddresses() {
  std::vector<std::string> v4, v6;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return v4;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    char text[INET6_ADDRSTRLEN];
    if (one->ifa_addr->sa_family == AF_INET) {
      const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
      v4.emplace_back(inet_ntop(AF_INET, &address->sin_addr, text, sizeof text));
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      const auto* address = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
      if (IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)) continue;
      v6.emplace_back(inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text));
    }
  }
  freeifaddrs(list);
  v4.insert(v4.end(), v6.begin(), v6.end());
  return v4;
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

// ISTIO_META_X=v is metadata X; ISTIO_METAJSON_X={…} adds its members to LABELS or ANNOTATIONS where X is
// one of these, else to the metadata itself, as Istio's agent does.
absl::Status ReadMetadata(const Environment& environment, json* metadata) {
  for (const auto& [name, value] : environment) {
    if (name.starts_with(kMetadataPrefix)) {
      (*metadata)[name.substr(kMetadataPrefix.size())] = value;
    } else if (name.starts_with(kJsonMetadataPrefix)) {
      const std::string key = name.substr(kJsonMetadataPrefix.size());
      const json members = ParseJson(value).value_or(json());
      if (!members.is_object()) return InvalidArgumentError(StrCat(name, ": not a JSON object"));
      json& into = key == "LABELS" || key == "ANNOTATIONS" ? (*metadata)[key] : *metadata;
      if (!into.is_object()) into = json::object();
      into.update(members);
    }
  }
  return absl::OkStatus();
}

std::optional<bool> ParseBool(std::string_view text) {
  const std::string lower = AsciiLower(text);
  if (lower == "true" || lower == "1" || lower == "t") return true;
  if (lower == "false" || lower == "0" || lower == "f") return false;
  return std::nullopt;
}

absl::Status ParseInt(std::string_view name, std::string_view text, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size()) return absl::OkStatus();
  return InvalidArgumentError(StrCat(name, ": '", text, "' is not a number"));
}

absl::Status ParseMilliseconds(std::string_view name, std::string_view text, std::chrono::milliseconds* out) {
  if (const auto parsed = ParseDuration(text)) {
    *out = *parsed;
    return absl::OkStatus();
  }
  return InvalidArgumentError(StrCat(name, ": '", text, "' is not a duration such as 45s"));
}

// A row of the table of flags: what a flag means, what its value is unless it is given, and how it gets into
// the options.
struct Flag {
  std::string_view name, meaning;
  std::string fallback;
  std::function<absl::Status(std::string_view value, Options*)> set;
  bool is_switch = false;  // true without a value
};

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
          [=](std::string_view value, Options* o) { return ParseMilliseconds(name, value, &(o->*member)); }};
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
          .meaning = "each line of the agent's log is a JSON object",
          .fallback = "false",
          .set =
              [](std::string_view value, Options* o) {
                const auto parsed = ParseBool(value);
                o->own_log.as_json = parsed.value_or(false);
                return parsed ? absl::OkStatus()
                              : InvalidArgumentError(
                                    StrCat("--log_as_json: '", value, "' is neither true nor false"));
              },
          .is_switch = true};
}

std::vector<Flag> MakeFlags() {
  return {
      Text("--discoveryAddress", &Options::discovery_address, "the control plane, HOST:PORT"),
      Text("--binaryPath", &Options::binary, "Envoy"),
      Text("--configPath", &Options::config_folder, "folder for the bootstrap"),
      Number("--proxyAdminPort", &Options::admin_port, "Envoy's administration interface, on loopback"),
      Number("--envoyPrometheusPort", &Options::prometheus_port, "/stats/prometheus; 0: none"),
      Number("--statusPort", &Options::status_port, "/healthz/ready, answered by the agent; 0: none"),
      Number("--envoyStatusPort", &Options::envoy_status_port, "the same; Istio's load balancers ask it"),
      Number("--concurrency", &Options::concurrency, "Envoy's worker threads; 0: Envoy's choice"),
      Text("--proxyLogLevel", &Options::log_level, "level of Envoy's logs"),
      Text("--proxyComponentLogLevel", &Options::component_log_level,
           "levels of Envoy's components, COMPONENT:LEVEL,…"),
      Text("--serviceCluster", &Options::service_cluster,
           "the node's cluster; by default from labels and namespace"),
      Text("--domain", &Options::domain, "the node's domain; NAMESPACE.svc.cluster.local by default"),
      Duration("--drainDuration", &Options::drain_duration, "Envoy's time to drain a removed listener"),
      Duration("--terminationDrainDuration", &Options::termination_drain_duration,
               "time from SIGTERM to Envoy's end"),
      Number("--baseId", &Options::base_id, "Envoy's base id; -1: a free one"),
      Text("--log_output_level", &Options::own_log_level, "the agent's log: LEVEL or SCOPE:LEVEL,…"),
      Text("--log_caller", &Options::own_log_caller, "scopes whose lines include their place in the sources"),
      LogTarget(),
      LogAsJson(),
  };
}

struct Variable {
  std::string_view name, meaning;
};
constexpr Variable kVariables[] = {
    {"POD_NAME, POD_NAMESPACE",
     "name and namespace of the node's id; by default the host's name, and default"},
    {"INSTANCE_IP", "the workload's addresses, with commas; by default those of the interfaces"},
    {"SERVICE_ACCOUNT", "the workload's"},
    {"ISTIO_META_NAME", "node metadata NAME"},
    {"ISTIO_METAJSON_NAME", "node metadata from JSON; LABELS and ANNOTATIONS are maps of their own"},
    {"PROXY_CONFIG", "a ProxyConfig, YAML or JSON; flags win over it"},
    {"ENVOY_STATUS_PORT", "as --envoyStatusPort; the flag wins"},
    {"ISTIO_DELTA_XDS", "whether Envoy uses delta xDS; true by default"},
    {"OUTPUT_CERTS", "folder for copies of the certificates, for gRPC libraries"},
    {"CA_ADDR",
     "the authority, HOST:PORT; by default the control plane. With it, or with port 15012, everything uses "
     "TLS"},
    {"ISTIOD_SAN", "name in the control plane's certificate; by default the address's host"},
    {"XDS_ROOT_CA", "file of the roots for that certificate [./var/run/secrets/istio/root-cert.pem]"},
    {"FAIRLEAD_TOKEN_FILE", "file of the workload's token [./var/run/secrets/tokens/istio-token]"},
    {"FAIRLEAD_CRL_FILE", "file of revocation lists, watched [./var/run/secrets/istio/crl/ca-crl.pem]"},
    {"PROV_CERT", "folder of a certificate as the workload's proof of identity, in place of a token"},
    {"FILE_MOUNTED_CERTS", "true: certificates come only from ./etc/certs"},
    {"PROXY_CONFIG_XDS_AGENT", "true: the control plane adds authorities to trust"},
    {"TRUST_DOMAIN", "trust domain of the workload's identity; cluster.local by default"},
    {"SECRET_TTL", "requested lifetime of certificates; 24h by default"},
    {"SECRET_GRACE_PERIOD_RATIO", "last part of the lifetime, for renewals; 0.5 by default"},
    {"SECRET_GRACE_PERIOD_RATIO_JITTER", "random part added to or taken from that; 0.01 by default"},
    {"ECC_SIGNATURE_ALGORITHM", "ECDSA: keys are ECDSA keys; otherwise RSA keys"},
    {"WORKLOAD_RSA_KEY_SIZE", "bits of RSA keys; 2048 by default"},
    {"ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION",
     "false: Envoy fetches Wasm modules; otherwise the agent does, and relays Envoy's configuration"},
    {"FAIRLEAD_WASM_DIR", "folder of fetched modules [./var/lib/istio/data]"},
    {"WASM_INSECURE_REGISTRIES", "HOST:PORT,… without verified certificates, plaintext too; *: all"},
    {"WASM_MODULE_EXPIRY", "life of an unused module; 24h by default"},
    {"WASM_PURGE_INTERVAL", "time between two checks for unused modules; 1h by default"},
    {"WASM_HTTP_REQUEST_TIMEOUT", "time limit of one request for a module; 15s by default"},
    {"WASM_HTTP_REQUEST_MAX_RETRIES", "most requests for one module; 5 by default"},
    {"ISTIO_WASM_MAX_BINARY_SIZE_BYTES", "largest module, packed or not; 268435456 by default"},
    {"BLOCKED_CIDRS_IN_WASM_FETCH",
     "networks without modules; metadata servers of machines are always blocked"},
    {"DOCKER_CONFIG", "folder of a config.json for images without a pull secret"},
    {"EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "true: after SIGTERM Envoy runs until its connections have ended"},
    {"MINIMUM_DRAIN_DURATION", "least time of Envoy after SIGTERM"},
};

void AppendRow(std::string_view name, std::string_view meaning, std::string* text) {
  constexpr size_t kColumn = 34;
  StrAppend(text, "  ", name, std::string(name.size() < kColumn ? kColumn - name.size() : 1, ' '), meaning,
            "\n");
}

std::string Usage() {
  std::string text =
      "usage: fairlead agent [sidecar|router|bootstrap [sidecar|router]|grpc-bootstrap] [flags]\nflags:\n";
  for (const Flag& flag : MakeFlags()) {
    const bool none = flag.fallback.empty() || flag.fallback == "-1";
    AppendRow(flag.name, none ? std::string(flag.meaning) : StrCat(flag.meaning, " [", flag.fallback, "]"),
              &text);
  }
  text.append("environment:\n");
  for (const Variable& variable : kVariables) AppendRow(variable.name, variable.meaning, &text);
  return text;
}

absl::Status UnknownFlag(const std::string& name) {
  std::vector<std::string> known;
  for (const Flag& flag : MakeFlags()) known.emplace_back(flag.name);
  const std::string meant = ClosestName(name, known);
  return InvalidArgumentError(StrCat(name, ": unknown", meant.empty() ? "" : "; did you mean ", meant,
                                     meant.empty() ? "\n" : "?\n", Usage()));
}

absl::Status ReadArguments(const std::vector<std::string>& arguments, Options* options) {
  const std::vector<Flag> flags = MakeFlags();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--help" || word == "-h") return absl::UnavailableError(Usage());
    if (word == "sidecar" || word == "router") {
      options->type = word;
      continue;
    }
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Flag* flag = nullptr;
    for (const Flag& one : flags) {
      if (one.name == name) flag = &one;
    }
    if (flag == nullptr) return UnknownFlag(name);
    if (flag->is_switch && equals == std::string::npos) {
      if (absl::Status status = flag->set("true", options); !status.ok()) return status;
      continue;
    }
    if (equals == std::string::npos && ++i == arguments.size()) {
      return InvalidArgumentError(StrCat(name, ": a value must follow"));
    }
    const std::string value = equals == std::string::npos ? arguments[i] : word.substr(equals + 1);
    if (absl::Status status = flag->set(value, options); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadEnvironment(const Environment& environment, Options* options) {
  options->pod_name = Value(environment, "POD_NAME", HostName());
  options->pod_namespace = Value(environment, "POD_NAMESPACE", "default");
  const std::string addresses = Value(environment, "INSTANCE_IP");
  for (std::string_view address : Split(addresses, ',')) {
    if (!Trim(address).empty()) options->addresses.emplace_back(Trim(address));
  }
  if (options->addresses.empty()) options->addresses = InterfaceAddresses();
  if (absl::Status status = ReadMetadata(environment, &options->metadata); !status.ok()) return status;
  options->certificate_folder = Value(environment, "OUTPUT_CERTS");
  if (const std::string port = Value(environment, "ENVOY_STATUS_PORT"); !port.empty()) {
    if (absl::Status status = ParseInt("ENVOY_STATUS_PORT", port, &options->envoy_status_port); !status.ok())
      return status;
  }
  if (const std::string delta = Value(environment, "ISTIO_DELTA_XDS"); !delta.empty()) {
    const auto parsed = ParseBool(delta);
    if (!parsed)
      return InvalidArgumentError(StrCat("ISTIO_DELTA_XDS: '", delta, "' is neither true nor false"));
    options->delta = *parsed;
  }
  if (const std::string exit = Value(environment, "EXIT_ON_ZERO_ACTIVE_CONNECTIONS"); !exit.empty()) {
    options->exit_on_zero_active_connections = ParseBool(exit).value_or(false);
  }
  if (const std::string drain = Value(environment, "MINIMUM_DRAIN_DURATION"); !drain.empty()) {
    return ParseMilliseconds("MINIMUM_DRAIN_DURATION", drain, &options->minimum_drain_duration);
  }
  return absl::OkStatus();
}

absl::Status ParseRatio(std::string_view name, std::string_view text, double* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size() && *out >= 0 && *out <= 1)
    return absl::OkStatus();
  return InvalidArgumentError(StrCat(name, ": '", text, "' is not between 0 and 1"));
}

// Istio's variables of certificates.
absl::Status ReadCertificates(const Environment& environment, Options* options) {
  options->ca_address = Value(environment, "CA_ADDR");
  options->server_name = Value(environment, "ISTIOD_SAN");
  options->roots_file = Value(environment, "XDS_ROOT_CA", options->roots_file);
  options->token_file = Value(environment, "FAIRLEAD_TOKEN_FILE", options->token_file);
  options->provided_certificates = Value(environment, "PROV_CERT");
  options->crl_file = Value(environment, "FAIRLEAD_CRL_FILE", options->crl_file);
  options->only_mounted = ParseBool(Value(environment, "FILE_MOUNTED_CERTS")).value_or(false);
  options->ask_what_to_trust = ParseBool(Value(environment, "PROXY_CONFIG_XDS_AGENT")).value_or(false);
  options->trust_domain = Value(environment, "TRUST_DOMAIN", options->trust_domain);
  options->service_account = Value(environment, "SERVICE_ACCOUNT", options->service_account);
  options->ecdsa = Value(environment, "ECC_SIGNATURE_ALGORITHM") == "ECDSA";
  absl::Status status;
  if (const std::string text = Value(environment, "SECRET_TTL"); !text.empty())
    status = ParseMilliseconds("SECRET_TTL", text, &options->secret_lifetime);
  if (const std::string text = Value(environment, "SECRET_GRACE_PERIOD_RATIO"); status.ok() && !text.empty())
    status = ParseRatio("SECRET_GRACE_PERIOD_RATIO", text, &options->grace_ratio);
  if (const std::string text = Value(environment, "SECRET_GRACE_PERIOD_RATIO_JITTER");
      status.ok() && !text.empty())
    status = ParseRatio("SECRET_GRACE_PERIOD_RATIO_JITTER", text, &options->grace_jitter);
  if (const std::string text = Value(environment, "WORKLOAD_RSA_KEY_SIZE"); status.ok() && !text.empty())
    status = ParseInt("WORKLOAD_RSA_KEY_SIZE", text, &options->rsa_bits);
  return status;
}

absl::Status ReadLimits(const Environment& environment, wasm::ModuleCache::Options* modules) {
  absl::Status status;
  const auto duration = [&](std::string_view name, std::chrono::milliseconds* out) {
    const std::string text = Value(environment, name);
    if (status.ok() && !text.empty()) status = ParseMilliseconds(name, text, out);
  };
  const auto number = [&](std::string_view name, int* out) {
    const std::string text = Value(environment, name);
    if (status.ok() && !text.empty()) status = ParseInt(name, text, out);
    if (status.ok() && *out <= 0)
      status = InvalidArgumentError(StrCat(name, ": '", text, "' is not positive"));
  };
  duration("WASM_MODULE_EXPIRY", &modules->expiry);
  duration("WASM_PURGE_INTERVAL", &modules->purge_interval);
  duration("WASM_HTTP_REQUEST_TIMEOUT", &modules->download.timeout);
  number("WASM_HTTP_REQUEST_MAX_RETRIES", &modules->download.attempts);
  int most = static_cast<int>(modules->download.most_bytes);
  number("ISTIO_WASM_MAX_BINARY_SIZE_BYTES", &most);
  modules->download.most_bytes = static_cast<size_t>(std::max(most, 0));
  return status;
}

// Istio's variables of Wasm modules.
absl::Status ReadModules(const Environment& environment, Options* options) {
  if (const std::string text = Value(environment, "ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION");
      !text.empty()) {
    const auto parsed = ParseBool(text);
    if (!parsed)
      return InvalidArgumentError(
          StrCat("ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION: '", text, "' is neither true nor false"));
    options->relay = *parsed;
  }
  wasm::DownloadOptions& download = options->modules.download;
  options->modules.folder = Value(environment, "FAIRLEAD_WASM_DIR", "./var/lib/istio/data");
  const std::string insecure = Value(environment, "WASM_INSECURE_REGISTRIES");
  for (const std::string_view host : Split(insecure, ',')) {
    if (!Trim(host).empty()) download.insecure.emplace(Trim(host));
  }
  if (const std::string folder = Value(environment, "DOCKER_CONFIG"); !folder.empty())
    download.docker_config = StrCat(folder, "/config.json");
  ModuleSources sources;
  const std::string ranges = Value(environment, "BLOCKED_CIDRS_IN_WASM_FETCH");
  for (const std::string_view text : Split(ranges, ',')) {
    if (Trim(text).empty()) continue;
    const auto range = IpPrefix::Parse(Trim(text));
    if (!range)
      return InvalidArgumentError(
          StrCat("BLOCKED_CIDRS_IN_WASM_FETCH: '", text, "' is no range of addresses"));
    sources.blocked.push_back(*range);
  }
  sources.own_ports = {options->admin_port, options->prometheus_port, options->status_port,
                       options->envoy_status_port};
  sources.planes = {options->discovery_address, options->ca_address};
  download.blocked = BlockedSources(sources);
  return ReadLimits(environment, &options->modules);
}

// What the control plane reads back from the node: the same keys that Istio's proxies send.
void FillMetadata(const Environment& environment, Options* options) {
  json& metadata = options->metadata;
  const auto set_if_absent = [&metadata](const char* key, const json& value) {
    if (!metadata.contains(key)) metadata[key] = value;
  };
  metadata["INSTANCE_IPS"] = Join(options->addresses, ",");
  set_if_absent("NAMESPACE", options->pod_namespace);
  if (const std::string account = Value(environment, "SERVICE_ACCOUNT"); !account.empty()) {
    set_if_absent("SERVICE_ACCOUNT", account);
  }
  // Without them a proxy is of another cluster than the control plane's, and matches no EnvoyFilter that
  // names a version.
  set_if_absent("CLUSTER_ID", "Kubernetes");
  set_if_absent("ISTIO_VERSION", kIstioVersion);
  if (options->prometheus_port != 0) metadata["ENVOY_PROMETHEUS_PORT"] = options->prometheus_port;
  if (options->envoy_status_port != 0) metadata["ENVOY_STATUS_PORT"] = options->envoy_status_port;
  if (options->exit_on_zero_active_connections) metadata["EXIT_ON_ZERO_ACTIVE_CONNECTIONS"] = "true";
  const json labels = metadata.value("LABELS", json::object());
  // Dots stand for slashes, which labels cannot hold.
  if (labels.contains("istio-locality") && labels["istio-locality"].is_string()) {
    const auto text = labels["istio-locality"].get<std::string>();
    options->locality = text.find('/') == std::string::npos ? ReplaceAll(text, ".", "/") : text;
  }
}

}  // namespace

Environment CurrentEnvironment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      environment.emplace(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
    }
  }
  return environment;
}

absl::StatusOr<Options> ReadOptions(const std::vector<std::string>& arguments,
                                    const Environment& environment) {
  Options options;
  if (absl::Status status = ReadEnvironment(environment, &options); !status.ok()) return status;
  if (const std::string text = Value(environment, "PROXY_CONFIG"); !text.empty()) {
    if (absl::Status status = ApplyProxyConfig(text, &options); !status.ok()) return status;
  }
  if (absl::Status status = ReadArguments(arguments, &options); !status.ok()) return status;
  if (absl::Status status = ReadCertificates(environment, &options); !status.ok()) return status;
  if (absl::Status status = ReadModules(environment, &options); !status.ok()) return status;
  options.tls = options.discovery_address.ends_with(":15012") || !options.ca_address.empty();
  FillMetadata(environment, &options);
  return options;
}

}  // namespace fairlead::agent
