#include "app/register_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "base/duration.h"
#include "base/ip_address.h"
#include "base/json.h"
#include "base/own_addresses.h"
#include "base/strings.h"
#include "config/check/names.h"
#include "config/read/manifests.h"
#include "istio/networking/v1alpha3/workload_group.pb.h"
#include "proto/json.h"
#include "source/file/read_file.h"

namespace fairlead::app {
namespace {

using nlohmann::json;

constexpr char kTlsMode[] = "security.istio.io/tlsMode";

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(ToAbsl(text)); }

std::string DefaultRunFolder() {
  if (geteuid() == 0) return "/run/fairlead";
  const char* const folder = std::getenv("XDG_RUNTIME_DIR");
  return folder != nullptr && *folder != '\0' ? StrCat(folder, "/fairlead")
                                              : StrCat("/tmp/fairlead-", geteuid());
}

// As the words of the command line say it.
struct Words {
  std::string file, probe, drain = "5s";
  std::vector<std::string> labels;
  int period = 0, timeout = 0, delay = 0, failures = 0, successes = 0;  // 0: not said
};

void AddPlaceFlags(RegisterOptions* o, CLI::App* command) {
  agent::ControlPlaneOptions& place = o->control_plane;
  place.address = "istiod.istio-system.svc:15012";
  place.token_file = "./var/run/secrets/tokens/istio-token";
  place.roots_file = "./var/run/secrets/istio/root-cert.pem";
  command->add_option("--discoveryAddress", place.address, "The control plane, HOST:PORT")
      ->capture_default_str();
  command
      ->add_option("--tokenFile", place.token_file, "File of the workload's token; read for each connection")
      ->capture_default_str();
  command->add_option("--certDir", place.certificate_folder,
                      "Folder with cert-chain.pem and key.pem, in place of a token");
  command
      ->add_option("--rootCert", place.roots_file,
                   "File with the root that vouches for the control plane; SYSTEM: the machine's roots")
      ->capture_default_str();
  command->add_option("--serverName", place.server_name,
                      "Whom its certificate must name; the host by default");
  command->add_flag("--plaintext", place.plaintext, "The address speaks no TLS, and proves no identity");
}

void AddProbeFlags(Words* words, CLI::App* command) {
  command->add_option("--probe", words->probe,
                      "How the workload's health is found: http://:PORT/PATH, https://, tcp://:PORT, "
                      "grpc://:PORT/SERVICE, exec:COMMAND; the group's by default");
  const auto number = [command](const char* name, int* value, const char* meaning) {
    command->add_option(name, *value, meaning)->check(CLI::Range(1, 86'400));
  };
  number("--periodSeconds", &words->period, "From one try to the next; 10 by default");
  number("--timeoutSeconds", &words->timeout, "Of a try; 1 by default");
  number("--initialDelaySeconds", &words->delay, "Before the first try");
  number("--failureThreshold", &words->failures, "Failures in a row that count; 3 by default");
  number("--successThreshold", &words->successes, "Successes in a row that count; 1 by default");
}

void AddFlags(RegisterOptions* o, Words* words, CLI::App* command) {
  command->add_option("GROUP", o->group, "The workload's WorkloadGroup");
  command->add_option("-f,--filename", words->file,
                      "A file with the WorkloadGroup: its name, namespace, account, probe");
  command->add_option("-n,--namespace", o->ns, "Of the group; default by default");
  command->add_option("--address", o->address,
                      "The workload's IP address; the machine's first one by default");
  command->add_option("-l,--label", words->labels, "KEY=VALUE of the workload; may be given often")
      ->allow_extra_args(false);
  command->add_option("--network", o->network, "The workload's network");
  command->add_option("--locality", o->locality, "REGION/ZONE/SUBZONE");
  command->add_option("--serviceAccount", o->service_account, "Whom the token is of; default: the group's");
  command->add_option("--clusterID", o->cluster_id, "The control plane's cluster; for its check of tokens")
      ->default_str("Kubernetes");
  AddPlaceFlags(o, command);
  AddProbeFlags(words, command);
  command
      ->add_option("--drain", words->drain,
                   "How long the workload is announced as not healthy before it goes: 5s, 0s")
      ->capture_default_str();
  command->add_option("--runDir", o->run_folder, "Folder of the file by which deregister finds this process")
      ->capture_default_str();
}

// What is not said in words comes from the file.
absl::Status ReadGroup(const std::string& path, RegisterOptions* o) {
  const auto text = source::ReadFile(path);
  if (!text.ok()) return Wrong(StrCat("-f: ", FromAbsl(text.status().message())));
  const config::ParseResult result = config::ParseManifests(*text, path);
  for (const config::Diagnostic& diagnostic : result.diagnostics) {
    if (diagnostic.severity == config::Severity::kError) return Wrong(config::ToText(diagnostic));
  }
  const config::ConfigObject* found = nullptr;
  for (const config::ConfigPtr& object : result.objects) {
    if (object->kind() != config::Kind::kWorkloadGroup) continue;
    if (!o->group.empty() && object->name().str() != o->group) continue;
    if (found != nullptr) return Wrong(StrCat(path, " has several WorkloadGroups: name one of them"));
    found = object.get();
  }
  if (found == nullptr) return Wrong(StrCat(path, " has no such WorkloadGroup"));
  const auto& group = found->Spec<istio::networking::v1alpha3::WorkloadGroup>();
  o->group = found->name().str();
  if (o->ns.empty()) o->ns = found->ns().str();
  if (o->service_account.empty()) o->service_account = group.template_().service_account();
  if (!group.has_probe()) return absl::OkStatus();
  const auto probe =
      proto::ToJson("istio.networking.v1alpha3.ReadinessProbe", group.probe().SerializeAsString());
  if (!probe.ok()) return probe.status();
  o->probe = ParseJson(*probe).value_or(json());
  return absl::OkStatus();
}

absl::Status ReadLabels(const Words& words, RegisterOptions* o) {
  for (const std::string& label : words.labels) {
    const size_t equals = label.find('=');
    const std::string key = label.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : label.substr(equals + 1);
    if (equals == std::string::npos) return Wrong(StrCat("--label: \"", label, "\" is no KEY=VALUE"));
    if (const std::string why = config::check::LabelProblem(key, value); !why.empty())
      return Wrong(StrCat("--label: ", why));
    o->labels[key] = value;
  }
  // Without a proxy nobody here speaks the mesh's TLS.
  o->labels.emplace(kTlsMode, "disabled");
  return absl::OkStatus();
}

absl::Status ReadProbeWords(const Words& words, RegisterOptions* o) {
  if (!words.probe.empty()) {
    const auto probe = ReadProbe(words.probe);
    if (!probe) return Wrong(StrCat("--probe: \"", words.probe, "\" is no probe, like http://:8080/healthz"));
    o->probe = *probe;
  }
  const std::pair<const char*, int> numbers[] = {{"periodSeconds", words.period},
                                                 {"timeoutSeconds", words.timeout},
                                                 {"initialDelaySeconds", words.delay},
                                                 {"failureThreshold", words.failures},
                                                 {"successThreshold", words.successes}};
  for (const auto& [name, number] : numbers) {
    if (number == 0) continue;
    if (o->probe.is_null()) return Wrong(StrCat("--", name, " needs a probe"));
    o->probe[name] = number;
  }
  return absl::OkStatus();
}

absl::Status CheckPlace(RegisterOptions* o) {
  if (o->ns.empty()) o->ns = "default";
  if (!config::check::IsDns1123Subdomain(o->group))
    return Wrong(StrCat("\"", o->group, "\" is no name of a WorkloadGroup"));
  if (!config::check::IsDns1123Label(o->ns)) return Wrong(StrCat("\"", o->ns, "\" is no namespace"));
  if (o->address.empty()) {
    for (const std::string& own : OwnAddresses()) {
      if (o->address.empty() && IpAddress::Parse(own)->is_global_unicast()) o->address = own;
    }
  }
  if (o->address.empty()) return Wrong("--address is needed: this machine has none that others could ask");
  if (!IsIpAddress(o->address)) return Wrong(StrCat("--address: \"", o->address, "\" is no IP address"));
  if (o->control_plane.plaintext) {
    o->control_plane.token_file.clear();
  } else if (!o->control_plane.certificate_folder.empty() &&
             access(o->control_plane.token_file.c_str(), R_OK) != 0) {
    o->control_plane.token_file.clear();
  }
  o->control_plane.cluster_id = o->cluster_id;
  return absl::OkStatus();
}

absl::Status Parse(CLI::App* command, const std::vector<std::string>& arguments) {
  try {
    command->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return absl::UnavailableError(command->help());
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<json> ReadProbe(std::string_view text) {
  if (text.starts_with("exec:")) {
    const std::string command(Trim(text.substr(5)));
    if (command.empty()) return std::nullopt;
    return json{{"exec", {{"command", {"/bin/sh", "-c", command}}}}};
  }
  const size_t at = text.find("://");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string scheme(text.substr(0, at));
  std::string_view rest = text.substr(at + 3);
  const std::string path(rest.find('/') == std::string_view::npos ? "" : rest.substr(rest.find('/')));
  rest = rest.substr(0, rest.find('/'));
  std::string_view host, number;
  int64_t port = 0;
  if (!config::check::SplitHostPort(rest, &host, &number) || !config::check::ParseGoInteger(number, &port) ||
      port < 1 || port > 65'535)
    return std::nullopt;
  json place = {{"port", port}};
  if (!host.empty()) place["host"] = std::string(host);
  if (scheme == "tcp" && path.empty()) return json{{"tcpSocket", place}};
  if (scheme == "grpc" && host.empty()) {
    if (path.size() > 1) place["service"] = path.substr(1);
    return json{{"grpc", place}};
  }
  if (scheme != "http" && scheme != "https") return std::nullopt;
  place["path"] = path.empty() ? "/" : path;
  place["scheme"] = AsciiUpper(scheme);
  return json{{"httpGet", place}};
}

absl::StatusOr<RegisterOptions> ReadRegisterOptions(const std::vector<std::string>& arguments) {
  RegisterOptions options;
  options.cluster_id = "Kubernetes";
  options.run_folder = DefaultRunFolder();
  Words words;
  CLI::App command(
      "Announces this machine's workload to the control plane while the command runs, without an Envoy: a "
      "WorkloadEntry of its WorkloadGroup, with its health",
      "fairlead register");
  AddFlags(&options, &words, &command);
  absl::Status status = Parse(&command, arguments);
  if (status.ok() && words.file.empty() && options.group.empty())
    status = Wrong("a WorkloadGroup is needed: its name, or -f and its file");
  if (status.ok() && !words.file.empty()) status = ReadGroup(words.file, &options);
  if (status.ok()) status = ReadLabels(words, &options);
  if (status.ok()) status = ReadProbeWords(words, &options);
  if (status.ok()) status = CheckPlace(&options);
  if (!status.ok()) return status;
  const auto drain = ParseGoDuration(words.drain);
  if (!drain || drain->count() < 0)
    return Wrong(StrCat("--drain: \"", words.drain, "\" is no duration (5s)"));
  options.drain = std::chrono::duration_cast<std::chrono::milliseconds>(*drain);
  return options;
}

absl::StatusOr<DeregisterOptions> ReadDeregisterOptions(const std::vector<std::string>& arguments) {
  DeregisterOptions options;
  options.ns = "default";
  options.run_folder = DefaultRunFolder();
  std::string patience = "1m";
  CLI::App command(
      "Ends `fairlead register` of a workload of this machine: the workload is gone for its clients",
      "fairlead deregister");
  command.add_option("GROUP", options.group, "The workload's WorkloadGroup")->required();
  command.add_option("-n,--namespace", options.ns, "Of the group")->capture_default_str();
  command.add_option("--address", options.address, "The workload's IP address, where several are registered");
  command.add_option("--runDir", options.run_folder, "As register has it")->capture_default_str();
  command.add_option("--timeout", patience, "How long to wait for its end")->capture_default_str();
  if (absl::Status status = Parse(&command, arguments); !status.ok()) return status;
  const auto wait = ParseGoDuration(patience);
  if (!wait || wait->count() < 0) return Wrong(StrCat("--timeout: \"", patience, "\" is no duration (1m)"));
  options.patience = std::chrono::duration_cast<std::chrono::milliseconds>(*wait);
  return options;
}

nlohmann::json RegisterNode(const RegisterOptions& options) {
  // The control plane looks at health where the proxy says that it has a probe.
  json probe = options.probe;
  if (probe.is_null()) probe = {{"exec", {{"command", json::array({"true"})}}}};
  json metadata = {{"NAMESPACE", options.ns},
                   {"AUTO_REGISTER_GROUP", options.group},
                   {"WORKLOAD_NAME", options.group},
                   {"INSTANCE_IPS", options.address},
                   {"CLUSTER_ID", options.cluster_id},
                   {"LABELS", options.labels},
                   {"PROXY_CONFIG", {{"readinessProbe", probe}}}};
  if (!options.service_account.empty()) metadata["SERVICE_ACCOUNT"] = options.service_account;
  if (!options.network.empty()) metadata["NETWORK"] = options.network;
  const std::string name = ReplaceAll(StrCat(options.group, "-", options.address), ":", "-");
  json node = {{"id", StrCat("sidecar~", options.address, "~", name, ".", options.ns, "~", options.ns,
                             ".svc.cluster.local")},
               {"metadata", metadata}};
  const std::vector<std::string_view> places = Split(options.locality, '/');
  const char* const names[] = {"region", "zone", "sub_zone"};
  for (size_t i = 0; i < places.size() && i < std::size(names); ++i) {
    if (!places[i].empty()) node["locality"][names[i]] = std::string(places[i]);
  }
  return node;
}

std::string RegisterMark(std::string_view ns, std::string_view group, std::string_view address) {
  const std::string begin = StrCat("register-", ns, "_", group, "_");
  return address.empty() ? begin : StrCat(begin, address, ".pid");
}

}  // namespace fairlead::app
