#include "app/commands.h"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "agent/run.h"
#include "app/discovery_options.h"
#include "app/discovery_server.h"
#include "app/environment.h"
#include "app/mesh_folder.h"
#include "app/version.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/thread.h"
#include "rpc/grpc_server.h"
#include "simulate/command/simulate_command.h"
#include "validate/validate_command.h"

namespace fairlead::app {
namespace {

using Arguments = std::vector<std::string>;

LogScope app_log("server");

// Signals that stop the program are waited for, in one place; blocked before the first thread starts.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

int Fail(const absl::Status& status) {
  FlushLogs();
  std::cerr << "fairlead: " << FromAbsl(status.message()) << std::endl;
  return 1;
}

int Serve(const DiscoveryOptions& options) {
  PrepareMemory();
  rpc::PrepareGrpc();
  const sigset_t signals = BlockStopSignals();
  DiscoveryServer server(options);
  if (absl::Status status = server.Start(); !status.ok()) return Fail(status);
  // A listener that cannot be opened ends the program; so that it is seen, the wait is in a thread of its
  // own.
  absl::Status serving;
  std::thread watcher = RequireThread([&] {
    serving = server.WaitUntilServing();
    if (!serving.ok()) kill(getpid(), SIGTERM);
  });
  int received = 0;
  sigwait(&signals, &received);
  app_log.Info("signal {}: stopping", received);
  FlushLogs();
  server.Stop();
  watcher.join();
  return serving.ok() ? 0 : Fail(serving);
}

// The environment, as "NAME=value".
Arguments Settings() {
  Arguments settings;
  for (char** setting = environ; *setting != nullptr; ++setting) settings.emplace_back(*setting);
  return settings;
}

// "--flag=" is a flag with an empty value, as in Go; the parser would take the next word for it.
Arguments WithEmptyValues(const Arguments& arguments) {
  Arguments words;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
      words.push_back(argument.substr(0, argument.size() - 1));
      words.emplace_back();
    } else {
      words.push_back(argument);
    }
  }
  return words;
}

int RunDiscovery(const Arguments& arguments) {
  DiscoveryOptions options;
  auto environment = ReadEnvironment([](const char* name) { return std::getenv(name); });
  if (!environment.ok()) return Fail(environment.status());
  options.environment = *environment;
  options.cluster_id = environment->cluster_id;
  options.ns = environment->pod_namespace;
  options.keepalive_interval = environment->keepalive_interval;
  options.keepalive_timeout = environment->keepalive_timeout;

  CLI::App command("Serves the mesh's configuration to its proxies over xDS", "fairlead discovery");
  AddDiscoveryFlags(&options, &command);
  const Arguments words = WithEmptyValues(arguments);
  try {
    command.parse(Arguments(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return command.exit(error);
  }
  if (absl::Status status = SetLogLevels(options.log_output_level); !status.ok()) return Fail(status);
  for (const std::string& flag : command.remaining())
    app_log.Warn("unknown argument {} is passed over", flag);
  for (const std::string& name : UnknownVariables(Settings()))
    app_log.Warn("{} is set, but means nothing to this version", name);
  return Serve(options);
}

int RunVersion(const Arguments&) {
  std::cout << VersionText() << std::endl;
  return 0;
}

int RunEnvironment(const Arguments&) {
  for (const EnvironmentVariable& variable : EnvironmentTable()) {
    std::cout << variable.name << "=" << variable.fallback << "\n    " << variable.meaning << "\n";
  }
  return 0;
}

int RunSimulate(const Arguments& arguments) { return simulate::RunSimulate(arguments, LoadMesh); }

struct Command {
  std::string_view name;
  int (*run)(const Arguments&);
  std::string_view meaning;
};

constexpr Command kCommands[] = {
    {"agent", agent::RunAgent, "run Envoy beside a workload, or print its bootstrap"},
    {"discovery", RunDiscovery, "serve the mesh's configuration to its proxies"},
    {"environment", RunEnvironment, "list the environment variables that discovery reads"},
    {"simulate", RunSimulate, "say where a request ends, and because of which objects"},
    {"validate", validate::RunValidate, "say whether Istio would admit the objects of files"},
    {"version", RunVersion, "print the version"},
};

int Usage(std::ostream& out, int status) {
  out << "usage: fairlead COMMAND [FLAGS]; fairlead COMMAND --help says more\n\n";
  for (const Command& command : kCommands)
    out << "  " << command.name << std::string(14 - command.name.size(), ' ') << command.meaning << "\n";
  return status;
}

}  // namespace

int RunCommand(int argc, char** argv) {
  const Arguments arguments(argv + std::min(argc, 2), argv + argc);
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Command& command : kCommands) {
    if (command.name == name) return command.run(arguments);
  }
  if (name == "--help" || name == "-h" || name == "help") return Usage(std::cout, 0);
  return Usage(std::cerr, 2);
}

}  // namespace fairlead::app
