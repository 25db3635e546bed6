#include "agent/run.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <tuple>

#include "absl/status/statusor.h"
#include "agent/bootstrap.h"
#include "agent/certificates.h"
#include "agent/envoy_process.h"
#include "agent/grpc_bootstrap.h"
#include "agent/options.h"
#include "agent/readiness.h"
#include "agent/xds_relay.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

void Say(std::string_view text) {
  std::fprintf(stderr, "fairlead agent: %.*s\n", int(text.size()), text.data());
}

std::string Message(const absl::Status& status) { return std::string(FromAbsl(status.message())); }

absl::StatusOr<std::string> WriteBootstrap(const Options& options) {
  if (absl::Status status = CreateFolders(options.config_folder); !status.ok()) return status;
  const std::string file = StrCat(options.config_folder, "/envoy-rev.json");
  std::ofstream out(file, std::ios::trunc);
  out << JsonText(BuildBootstrap(options), 2) << "\n";
  out.close();
  if (!out) return absl::UnavailableError(StrCat(file, ": cannot be written"));
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

// Runs Envoy and reacts to signals, which the constructor blocks for everything else: all on the calling
// thread.
class Supervisor {
 public:
  explicit Supervisor(const Options& options) : options_(options), admin_(options.admin_port) {
    sigemptyset(&signals_);
    for (int one : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&signals_, one);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }

  int Run(const std::vector<std::string>& command) {
    Backoff backoff;
    for (;;) {
      const auto started = StartProcess(command);
      if (!started.ok()) {
        Say(Message(started.status()));
        return 1;  // not to be run at all: no use in trying again
      }
      const auto start = SteadyClock::now();
      Say(StrCat("Envoy runs as process ", *started));
      if (!WaitForEnd(*started)) return Stop(*started);
      const auto ran = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - start);
      const milliseconds wait = backoff.Next(ran);
      Say(StrCat("Envoy ended after ", ran.count(), " ms (", Describe(*ended_), "); next start in ",
                 wait.count(), " ms"));
      if (StopAskedWithin(wait)) return 0;
    }
  }

 private:
  static std::string Describe(int status) {
    if (WIFSIGNALED(status)) return StrCat("signal ", WTERMSIG(status));
    return StrCat("status ", WEXITSTATUS(status));
  }

  // Takes the next signal, waiting at most `limit` (for ever where there is none); 0 where none came.
  int NextSignal(std::optional<milliseconds> limit) {
    if (!limit) return sigwaitinfo(&signals_, nullptr);
    const timespec time{limit->count() / 1000, (limit->count() % 1000) * 1'000'000};
    const int got = sigtimedwait(&signals_, nullptr, &time);
    return got > 0 ? got : 0;
  }

  // Reaps `child` if it has ended.
  bool Ended(pid_t child) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) != child) return false;
    ended_ = status;
    return true;
  }

  // Until the child ends (true) or a stop is asked for (false). Tells meanwhile why it is not ready.
  bool WaitForEnd(pid_t child) {
    const auto start = SteadyClock::now();
    Readiness readiness([this](const std::string& path) { return admin_.Get(path); },
                        options_.discovery_address);
    while (!Ended(child)) {
      const int got = NextSignal(readiness.ready() ? std::nullopt : std::optional(milliseconds(1'000)));
      if (got == SIGTERM || got == SIGINT) return false;
      if (got != 0 || readiness.ready()) continue;
      const auto ran = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - start);
      if (const std::string text = readiness.Look(ran); !text.empty()) Say(text);
    }
    return true;
  }

  bool EndedWithin(pid_t child, milliseconds limit) {
    const auto end = SteadyClock::now() + limit;
    while (!Ended(child)) {
      const auto left = std::chrono::duration_cast<milliseconds>(end - SteadyClock::now());
      if (left.count() <= 0) return false;
      NextSignal(std::min(left, milliseconds(200)));
    }
    return true;
  }

  bool StopAskedWithin(milliseconds limit) {
    const auto end = SteadyClock::now() + limit;
    for (;;) {
      const auto left = std::chrono::duration_cast<milliseconds>(end - SteadyClock::now());
      if (left.count() <= 0) return false;
      const int got = NextSignal(left);
      if (got == SIGTERM || got == SIGINT) return true;
    }
  }

  // Lets requests that are under way finish: listeners drain, connections end, then Envoy does.
  int Stop(pid_t child) {
    Say("stopping: Envoy drains its listeners");
    const std::string which =
        options_.type == "sidecar" ? "?inboundonly&graceful&skip_exit" : "?graceful&skip_exit";
    if (const auto drained = admin_.Post("/drain_listeners" + which); !drained.ok()) {
      Say(StrCat("listeners cannot be drained: ", Message(drained.status())));
    }
    const bool ended = options_.exit_on_zero_active_connections
                           ? WaitForConnections(child)
                           : EndedWithin(child, options_.termination_drain_duration);
    if (ended) return 0;
    kill(child, SIGTERM);
    constexpr milliseconds kLastWait{5'000};
    if (EndedWithin(child, kLastWait)) return 0;
    Say("Envoy did not end in time and is killed");
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return 0;
  }

  // Until no connection is left, asked each second after the minimum; true if Envoy ended by itself.
  bool WaitForConnections(pid_t child) {
    if (EndedWithin(child, options_.minimum_drain_duration)) return true;
    for (DrainProgress progress;;) {
      const auto active = admin_.ActiveConnections(options_.prometheus_port);
      if (progress.Done(active)) return false;
      Say(active.ok() ? StrCat(*active, " connections are open") : Message(active.status()));
      if (EndedWithin(child, milliseconds(1'000))) return true;
    }
  }

  const Options& options_;
  const Admin admin_;
  sigset_t signals_;
  std::optional<int> ended_;  // wait status of the last Envoy
};

absl::Status SetUpLog(const Options& options) {
  if (absl::Status status = SetLogLevels(options.own_log_level); !status.ok()) return status;
  SetLogCallers(options.own_log_caller);
  return SetLogOutput(options.own_log);
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
  if (const absl::Status status = SetUpLog(*options); !status.ok()) {
    Say(Message(status));
    return 2;
  }
  if (print) {
    const nlohmann::json bootstrap = grpc ? BuildGrpcBootstrap(*options) : BuildBootstrap(*options);
    std::printf("%s\n", JsonText(bootstrap, 2).c_str());
    return 0;
  }
  // The control plane warns of what needs some.
  if (!HasCertificates(*options)) options->metadata["FAIRLEAD_CERTIFICATES"] = "none";
  options->relay_socket = RelaySocket(*options);
  const auto file = WriteBootstrap(*options);
  if (!file.ok()) {
    Say(Message(file.status()));
    return 1;
  }
  // First: it blocks signals for the threads that are made after it, too.
  Supervisor supervisor(*options);
  Certificates certificates(*options);
  if (const absl::Status status = certificates.Start(); !status.ok()) {
    Say(Message(status));
    return 1;
  }
  std::optional<XdsRelay> relay;
  if (!options->relay_socket.empty()) {
    relay.emplace(RelayOptions(*options), certificates.store());
    if (const absl::Status status = relay->Start(); !status.ok()) {
      Say(Message(status));
      return 1;
    }
  }
  return supervisor.Run(EnvoyCommand(*options, *file));
}

}  // namespace fairlead::agent
