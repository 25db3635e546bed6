#include "agent/run.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <tuple>

#include "absl/status/statusor.h"
#include "agent/bootstrap/bootstrap.h"
#include "agent/bootstrap/clusters.h"
#include "agent/bootstrap/envoy_program.h"
#include "agent/bootstrap/grpc_bootstrap.h"
#include "agent/bootstrap/json_parts.h"
#include "agent/bootstrap/workload_addresses.h"
#include "agent/certificates.h"
#include "agent/dns_proxy.h"
#include "agent/envoy_output.h"
#include "agent/envoy_process.h"
#include "agent/health_server.h"
#include "agent/notice.h"
#include "agent/options.h"
#include "agent/status/status_pages.h"
#include "agent/supervisor.h"
#include "agent/workload_health.h"
#include "agent/xds_relay.h"
#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/strings.h"
#include "ca/secret_file.h"
#include "proto/library_log.h"

namespace fairlead::agent {
namespace {

std::string Message(const absl::Status& status) { return std::string(FromAbsl(status.message())); }

// The bootstrap's file, or the one that the ProxyConfig names in its place.
absl::StatusOr<std::string> WriteBootstrap(const Options& options) {
  if (!options.custom_config_file.empty()) return options.custom_config_file;
  if (absl::Status status = CheckBootstrap(options); !status.ok()) return status;
  if (absl::Status status = CreatePrivateFolder(options.config_folder); !status.ok()) return status;
  const std::string token =
      JsonString(MemberAt(options.proxy_config, {"tracing", "lightstep"}), "accessToken");
  if (!token.empty()) {
    if (absl::Status status = WritePrivateFile(LightstepTokenFile(options), token); !status.ok())
      return status;
  }
  const std::string file = BootstrapFile(options);
  // It may name files of keys, and whoever may write it decides what Envoy runs.
  absl::Status status = WritePrivateFile(file, JsonText(BuildBootstrap(options), 2) + "\n");
  if (!status.ok()) return status;
  return file;
}

// What Envoy is to lay over its bootstrap; "" where there is nothing of use.
std::string Override(const Options& options) {
  if (options.bootstrap_override.empty()) return "";
  const auto text = ca::ReadSecretFile(options.bootstrap_override);
  const auto json = text.ok() ? OverrideJson(*text, options.host_ip) : text.status();
  if (json.ok()) return *json;
  Say(StrCat("warning: ISTIO_BOOTSTRAP_OVERRIDE: ", options.bootstrap_override, ": ", Message(json.status()),
             "; the bootstrap is as it is without"));
  return "";
}

// A socket of another name than the agent's is another agent's, and must be there.
absl::Status CheckSocket(const Options& options) {
  if (options.socket_name == Options().socket_name || HasForeignCertificates(options))
    return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat("WORKLOAD_IDENTITY_SOCKET_FILE: nobody serves ", options.secret_socket));
}

// Where configuration comes through the agent.
std::string RelaySocket(const Options& options) {
  constexpr size_t kLongest = 107;  // of a unix socket's path
  std::string path = StrCat(options.config_folder, "/XDS");
  if (path.size() <= kLongest) return path;
  Say(StrCat("Envoy asks the control plane itself: ", path, " is too long for a socket"));
  return "";
}

XdsRelay::Options RelayOptions(const Options& options, bool foreign) {
  XdsRelay::Options relay;
  relay.socket = options.relay_socket;
  relay.for_all = options.disable_envoy || options.own_grpc_bootstrap;
  std::tie(relay.upstream.host, relay.upstream.port) = SplitAddress(options.discovery_address);
  relay.upstream.tls = options.tls && !options.plaintext_discovery;
  relay.upstream.server_name = options.server_name;
  relay.upstream.crl_file = options.crl_file;
  relay.own_certificate = !foreign;
  relay.control_plane = DiscoveryOf(options);
  // Another authority's certificate may mean nothing to the control plane, and nor may its roots.
  relay.with_token = !options.ca_address.empty() && options.ca_address != options.discovery_address;
  if (!foreign && !options.own_roots_file) relay.control_plane.roots_file.clear();
  relay.fetch_modules = options.fetch_modules;
  relay.modules = options.modules;
  relay.modules.folder = AbsolutePath(options.modules.folder);
  return relay;
}

absl::Status SetUpLog(const Options& options) {
  proto::LogWhatTheLibrarySays();
  if (absl::Status status = SetLogLevels(options.own_log_level); !status.ok()) return status;
  SetLogCallers(options.own_log_caller);
  return SetLogOutput(options.own_log);
}

int Failed(const absl::Status& status) {
  Say(Message(status));
  return 1;
}

// Whoever started the agent may have closed these: no file of its own must take their place.
void KeepStandardFiles() {
  for (int file = open("/dev/null", O_RDWR); file >= 0; file = open("/dev/null", O_RDWR)) {
    if (file <= STDERR_FILENO) continue;
    close(file);
    return;
  }
}

// What every workload needs of the agent: certificates, and the way to the control plane.
class Supplies {
 public:
  explicit Supplies(const Options& options)
      : options_(options), foreign_(HasForeignCertificates(options)), certificates_(options) {}
  absl::Status Start() {
    if (absl::Status status = certificates_.Start(); !status.ok()) return status;
    if (options_.dns) {
      auto started = DnsProxy::Start(options_, /*relayed=*/!options_.relay_socket.empty());
      if (!started.ok()) return started.status();
      dns_ = *std::move(started);
    }
    if (!options_.relay_socket.empty()) {
      XdsRelay::Options relay = RelayOptions(options_, foreign_);
      if (dns_ != nullptr) relay.taps.push_back(dns_->Tap());
      relay_.emplace(std::move(relay), certificates_.store());
      if (absl::Status status = relay_->Start(); !status.ok()) return status;
    }
    return WantsGrpcBootstrap(options_) ? WriteGrpcBootstrap(options_) : absl::OkStatus();
  }
  // The agent's own problems, for people who wait.
  std::vector<std::string> Difficulties() const {
    std::vector<std::string> all = certificates_.Difficulties();
    // Without certificates there is no stream to it either.
    const std::string why = relay_ && all.empty() ? relay_->Difficulty() : "";
    if (!why.empty()) all.push_back(why);
    return all;
  }
  // Probes the workload from now on, where its group says how. `envoy`: empty without Envoy.
  absl::Status ProbeWorkload(WorkloadHealth::Check envoy) {
    auto probe = ReadWorkloadProbe(options_.proxy_config);
    if (!probe.ok() || !*probe || !relay_) return probe.status();
    ProbeWay way = WayToApplication(options_);
    if (!options_.probe_localhost && !options_.addresses.empty()) way.host = options_.addresses.front();
    health_.emplace(**std::move(probe), std::move(way), std::move(envoy),
                    [this](const absl::Status& why) { relay_->ReportHealth(why); });
    health_->Start();
    return absl::OkStatus();
  }
  void StopProbing() { health_.reset(); }
  const DnsProxy* dns() const { return dns_.get(); }  // null: none

 private:
  const Options& options_;
  const bool foreign_;
  Certificates certificates_;
  std::unique_ptr<DnsProxy> dns_;  // null: none; outlives the relay
  std::optional<XdsRelay> relay_;
  std::optional<WorkloadHealth> health_;  // stops before the relay does
};

// An application that speaks xDS itself, and what it needs, until a stop is asked for.
int RunWithoutEnvoy(const Options& options) {
  Supplies supplies(options);
  HealthServer health([&options, &supplies] {
    const absl::Status files = CheckGrpcFiles(options);
    return files.ok() && supplies.dns() != nullptr ? supplies.dns()->Check() : files;
  });
  if (const absl::Status status = supplies.Start(); !status.ok()) return Failed(status);
  const auto pages =
      StatusPages::Make(options, {[] { kill(getpid(), SIGTERM); }, [] { return absl::OkStatus(); }});
  if (!pages.ok()) return Failed(pages.status());
  health.Serve(options.status_port, [&](server::HttpServer* server) {
    StatusPages::AddTo(server, *pages);
    if (supplies.dns() != nullptr) supplies.dns()->AddTo(server);
  });
  if (const absl::Status status = supplies.ProbeWorkload({}); !status.ok()) return Failed(status);
  Say(StrCat("there is no Envoy: applications are started with ", options.grpc_bootstrap));
  WaitForStop();
  health.Stop();
  return 0;
}

// Envoy, and what it needs, until a stop is asked for.
int RunProxy(const Options& options) {
  const auto file = WriteBootstrap(options);
  if (!file.ok()) return Failed(file.status());
  EnvoyOutput output(STDOUT_FILENO, STDERR_FILENO);
  if (const absl::Status status = output.Start(); !status.ok()) return Failed(status);
  Supplies supplies(options);
  const Readiness::Reasons reasons = [&supplies] { return supplies.Difficulties(); };
  const Admin admin(options.admin_port, AllIpv6(options.addresses));
  HealthServer health([admin](const std::string& path) { return admin.Get(path); }, options.discovery_address,
                      reasons);
  if (const absl::Status status = supplies.Start(); !status.ok()) return Failed(status);
  if (supplies.dns() != nullptr) health.Require([&supplies] { return supplies.dns()->Check(); });
  Supervisor supervisor(options, output, &health, reasons);
  const auto pages = StatusPages::Make(
      options, {[&supervisor] { supervisor.Quit(); }, [&supervisor] { return supervisor.Drain(); }});
  if (!pages.ok()) return Failed(pages.status());
  health.Serve(options.status_port, [&](server::HttpServer* server) {
    StatusPages::AddTo(server, *pages);
    if (supplies.dns() != nullptr) supplies.dns()->AddTo(server);
  });
  if (const absl::Status status = supplies.ProbeWorkload([&health] { return health.Check(); }); !status.ok())
    return Failed(status);
  const int status =
      supervisor.Run({EnvoyCommand(options, *file, Override(options)), EnvoyVariables(options)});
  supplies.StopProbing();  // which asks for Envoy's health
  health.Stop();           // whose pages call the supervisor
  return status;
}

int RunWorkload(Options options) {
  // The control plane warns of what needs some.
  if (!HasCertificates(options)) options.metadata["FAIRLEAD_CERTIFICATES"] = "none";
  if (const absl::Status status = CheckSocket(options); !status.ok()) return Failed(status);
  NoteSockets(&options);
  options.relay_socket = RelaySocket(options);
  return options.disable_envoy ? RunWithoutEnvoy(options) : RunProxy(options);
}

}  // namespace

int RunAgent(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest = arguments;
  const bool grpc = !rest.empty() && rest.front() == "grpc-bootstrap";
  const bool print = grpc || (!rest.empty() && rest.front() == "bootstrap");
  if (!rest.empty() && (print || rest.front() == "proxy")) rest.erase(rest.begin());
  auto options = ReadOptions(rest, CurrentEnvironment());
  if (!options.ok()) {
    const bool help = options.status().code() == absl::StatusCode::kUnavailable;
    std::fprintf(help ? stdout : stderr, "%s\n", Message(options.status()).c_str());
    return help ? 0 : 2;
  }
  if (!print) {
    PrepareMemory();
    KeepStandardFiles();
    BlockSignals();
  }
  if (const absl::Status status = SetUpLog(*options); !status.ok()) {
    Say(Message(status));
    return 2;
  }
  for (const std::string& remark : options->remarks) Say(StrCat("warning: ", remark));
  if (DiscoversPeers(*options)) options->istio_extensions = MayHaveIstioExtensions(EnvoyProgram(*options));
  if (!print) return RunWorkload(*std::move(options));
  const nlohmann::json bootstrap = grpc ? BuildGrpcBootstrap(*options) : BuildBootstrap(*options);
  std::printf("%s\n", JsonText(bootstrap, 2).c_str());
  return 0;
}

}  // namespace fairlead::agent
