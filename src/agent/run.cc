#include "agent/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <tuple>

#include "absl/status/statusor.h"
#include "agent/bootstrap.h"
#include "agent/certificates.h"
#include "agent/envoy_output.h"
#include "agent/envoy_process.h"
#include "agent/grpc_bootstrap.h"
#include "agent/health.h"
#include "agent/notice.h"
#include "agent/options.h"
#include "agent/supervisor.h"
#include "agent/xds_relay.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "proto/library_log.h"

namespace fairlead::agent {
namespace {

std::string Message(const absl::Status& status) { return std::string(FromAbsl(status.message())); }

absl::StatusOr<std::string> WriteBootstrap(const Options& options) {
  if (absl::Status status = CreatePrivateFolder(options.config_folder); !status.ok()) return status;
  const std::string file = StrCat(options.config_folder, "/envoy-rev.json");
  // It may name files of keys, and whoever may write it decides what Envoy runs.
  absl::Status status = WritePrivateFile(file, JsonText(BuildBootstrap(options), 2) + "\n");
  if (!status.ok()) return status;
  return file;
}

// Where Envoy's configuration comes through the agent. Certificates that somebody else gives to Envoy are not
// the agent's to show.
std::string RelaySocket(const Options& options) {
  constexpr size_t kLongest = 107;  // of a unix socket's path
  if (!options.relay) return "";
  if (options.tls && HasForeignCertificates(options)) {
    Say("Wasm modules are not fetched: certificates are served by somebody else, and Envoy asks the control "
        "plane itself");
    return "";
  }
  std::string path = StrCat(options.config_folder, "/XDS");
  if (path.size() <= kLongest) return path;
  Say(StrCat("Wasm modules are not fetched: ", path, " is too long for a socket"));
  return "";
}

XdsRelay::Options RelayOptions(const Options& options) {
  XdsRelay::Options relay;
  relay.socket = options.relay_socket;
  std::tie(relay.upstream.host, relay.upstream.port) = SplitAddress(options.discovery_address);
  relay.upstream.tls = options.tls;
  relay.upstream.server_name = options.server_name;
  relay.upstream.crl_file = options.crl_file;
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

// Envoy, and what it needs, until a stop is asked for.
int RunProxy(Options options) {
  // The control plane warns of what needs some.
  if (!HasCertificates(options)) options.metadata["FAIRLEAD_CERTIFICATES"] = "none";
  options.relay_socket = RelaySocket(options);
  const auto file = WriteBootstrap(options);
  if (!file.ok()) return Failed(file.status());
  EnvoyOutput output(STDOUT_FILENO, STDERR_FILENO);
  if (const absl::Status status = output.Start(); !status.ok()) return Failed(status);
  Certificates certificates(options);
  const Readiness::Reasons reasons = [&certificates] { return certificates.Difficulties(); };
  Health health([admin = Admin(options.admin_port)](const std::string& path) { return admin.Get(path); },
                options.discovery_address, reasons);
  if (const absl::Status status = certificates.Start(); !status.ok()) return Failed(status);
  std::optional<XdsRelay> relay;
  if (!options.relay_socket.empty()) {
    relay.emplace(RelayOptions(options), certificates.store());
    if (const absl::Status status = relay->Start(); !status.ok()) return Failed(status);
  }
  health.Serve({options.status_port, options.envoy_status_port});
  return Supervisor(options, output, &health, reasons).Run(EnvoyCommand(options, *file));
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
    KeepStandardFiles();
    BlockSignals();
  }
  if (const absl::Status status = SetUpLog(*options); !status.ok()) {
    Say(Message(status));
    return 2;
  }
  for (const std::string& remark : options->remarks) Say(StrCat("warning: ", remark));
  if (!print) return RunProxy(*std::move(options));
  const nlohmann::json bootstrap = grpc ? BuildGrpcBootstrap(*options) : BuildBootstrap(*options);
  std::printf("%s\n", JsonText(bootstrap, 2).c_str());
  return 0;
}

}  // namespace fairlead::agent
