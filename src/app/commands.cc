#include "app/commands.h"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/agent_commands.h"
#include "app/cluster_access.h"
#include "app/discovery_options.h"
#include "app/discovery_server.h"
#include "app/environment.h"
#include "app/istiod_variables.h"
#include "app/mesh_folder.h"
#include "app/platform_sources.h"
#include "app/register_command.h"
#include "app/status_command.h"
#include "app/store_command.h"
#include "app/token_command.h"
#include "app/version.h"
#include "base/closest_name.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/thread.h"
#include "cni/run.h"
#include "fetch/web_request.h"
#include "injection/inject_command.h"
#include "proto/library_log.h"
#include "server/grpc_server.h"
#include "simulate/command/simulate_command.h"
#include "validate/validate_command.h"

namespace fairlead::app {
namespace {

using Arguments = std::vector<std::string>;

constexpr int kWrongCall = 2;

LogScope app_log("server");

// Signals that stop the program are waited for, in one place. To be called before the first thread starts,
// which the log's is: one that does not block them would be ended by any that comes while none is waited for.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  // Of a terminal that goes, and of tools that want files read again, which are watched.
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

int Fail(const absl::Status& status) {
  FlushLogs();
  std::cerr << "fairlead: " << FromAbsl(status.message()) << std::endl;
  return 1;
}

int WrongCall(const absl::Status& status) {
  Fail(status);
  return kWrongCall;
}

int Serve(const DiscoveryOptions& options, const sigset_t& signals) {
  PrepareMemory();
  DiscoveryServer server(options);
  if (absl::Status status = server.Start(); !status.ok())
    return absl::IsInvalidArgument(status) ? WrongCall(status) : Fail(status);
  // A listener that cannot be opened ends the program; so that it is seen, the wait is in a thread of its
  // own.
  absl::Status serving;
  std::atomic<bool> failed{false};
  std::thread watcher = RequireThread([&] {
    serving = server.WaitUntilServing();
    failed = !serving.ok();
    if (failed) kill(getpid(), SIGTERM);
  });
  int received = 0;
  for (sigwait(&signals, &received); received == SIGHUP || received == SIGUSR1; sigwait(&signals, &received))
    app_log.Info("signal {}: nothing to do, files are watched", received);
  if (!failed) app_log.Info("signal {}: stopping", received);
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

absl::Status SetUpLog(const DiscoveryOptions& options) {
  proto::LogWhatTheLibrarySays();
  if (absl::Status status = SetLogLevels(options.log_output_level); !status.ok()) return status;
  SetLogCallers(options.log_caller);
  if (absl::Status status = SetLogOutput(options.log_output); !status.ok()) return status;
  std::vector<std::string> unknown = UnknownLogScopes(options.log_output_level);
  for (std::string& name : UnknownLogScopes(options.log_caller)) unknown.push_back(std::move(name));
  if (unknown.empty()) return absl::OkStatus();
  std::vector<std::string> known;
  for (const LogScopeInfo& scope : LogScopes()) known.push_back(scope.name);
  app_log.Warn("the log has no scopes {}; there are {}", Join(unknown, ", "), Join(known, ", "));
  return absl::OkStatus();
}

int RunDiscovery(const Arguments& arguments) {
  const sigset_t signals = BlockStopSignals();
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
    return command.exit(error) == 0 ? 0 : kWrongCall;
  }
  const auto idle = CheckExtras(command);
  if (!idle.ok()) return WrongCall(idle.status());
  if (absl::Status status = TakeRegistries(&options); !status.ok()) return WrongCall(status);
  if (options.config_dir.empty() && PlatformUrlsOf(options).empty() && !ReadsCluster(options))
    return WrongCall(absl::InvalidArgumentError(
        "there is no source: --configDir, --configSource or --kubeconfig is required"));
  if (const auto names = ListFolder(options.config_dir); !options.config_dir.empty() && !names.ok())
    return Fail(names.status());
  if (absl::Status status = SetUpLog(options); !status.ok()) return WrongCall(status);
  if (!idle->empty()) app_log.Warn("set, but without a meaning to this version: {}", Join(*idle, ", "));
  for (const std::string& remark : RemarksOn(Settings())) app_log.Warn("{}", remark);
  return Serve(options, signals);
}

// Of a command without flags: whether help was asked for, which is then given.
bool TellsMeaning(const Arguments& arguments, std::string_view usage) {
  if (arguments.empty() || (arguments.front() != "--help" && arguments.front() != "-h")) return false;
  std::cout << usage << std::endl;
  return true;
}

// Of a command that takes no more words.
int UnexpectedWord(std::string_view command, std::string_view word) {
  std::cerr << "fairlead " << command << ": \"" << word << "\" is not expected\n";
  return kWrongCall;
}

int RunVersion(const Arguments& arguments) {
  if (TellsMeaning(arguments, "usage: fairlead version [-o json]; prints the version")) return 0;
  const bool named = arguments.size() == 2 && (arguments[0] == "-o" || arguments[0] == "--output");
  const std::string format = named ? arguments[1] : arguments.empty() ? "text" : arguments[0];
  if (named ? format == "json" : format == "-ojson" || format == "--output=json") {
    std::cout << JsonText(nlohmann::ordered_json{{"name", "fairlead"}, {"version", kVersion}}) << std::endl;
    return 0;
  }
  if (format != "text") return UnexpectedWord("version", format);
  std::cout << VersionText() << std::endl;
  return 0;
}

int RunEnvironment(const Arguments& arguments) {
  if (TellsMeaning(arguments, "usage: fairlead environment; lists the variables that discovery reads"))
    return 0;
  if (!arguments.empty()) return UnexpectedWord("environment", arguments.front());
  for (const EnvironmentVariable& variable : EnvironmentTable()) {
    std::cout << variable.name << "=" << variable.fallback << "\n    " << variable.meaning << "\n";
  }
  std::cout << "\nOther variables of istiod's:\n";
  for (const IstiodVariable& variable : IstiodVariables()) {
    const bool idle = variable.fate == IstiodVariable::Fate::kIdle;
    std::cout << "  " << variable.name << " (" << variable.fallback << ") "
              << (idle ? "without meaning here: " : "not honoured: ") << variable.why << "\n";
  }
  return 0;
}

absl::StatusOr<std::string> AskServer(const std::string& url) {
  fetch::WebRequest request{.url = url};
  request.most_bytes = 64 << 20;
  request.plaintext = true;
  absl::StatusOr<fetch::WebAnswer> answer = fetch::Ask(request);
  std::string why;
  if (!answer.ok()) why = FromAbsl(answer.status().message());
  if (answer.ok() && answer->status != 200) why = StrCat("status ", answer->status);
  if (!why.empty()) return absl::UnavailableError(ToAbsl(StrCat("--server: ", url, ": ", why)));
  return std::move(answer->body);
}

int RunSimulate(const Arguments& arguments) { return simulate::RunSimulate(arguments, LoadMesh, AskServer); }

struct Command {
  std::string_view name;
  int (*run)(const Arguments&);
  std::string_view meaning;
};

constexpr Command kCommands[] = {
    {"agent", RunAgentCommand,
     "run Envoy beside a workload, or print its bootstrap; also iptables, request and wait"},
    {"apply", RunApply, "check objects and write them into etcd"},
    {"cni", cni::RunCni, "redirect the traffic of pods from their node, as a CNI plugin"},
    {"delete", RunDelete, "delete objects of etcd"},
    {"deregister", RunDeregister, "end the registration of a workload of this machine"},
    {"discovery", RunDiscovery, "serve the mesh's configuration to its proxies"},
    {"edit", RunEdit, "change an object of etcd in an editor"},
    {"environment", RunEnvironment, "list the environment variables that discovery reads"},
    {"get", RunGet, "print objects of etcd"},
    {"inject", injection::RunInject, "add sidecars to the workloads of a file"},
    {"register", RunRegister, "announce a workload without an Envoy, with its health"},
    {"simulate", RunSimulate, "tell the destination of a request, and the objects behind it"},
    {"status", RunStatus, "print the status of Gateway API objects, as Istio would write it"},
    {"token", RunToken, "print a token as an agent's proof of identity, for small fleets"},
    {"validate", validate::RunValidate, "tell whether Istio would admit the objects of files"},
    {"version", RunVersion, "print the version"},
};

int Usage(std::ostream& out, int status) {
  out << "usage: fairlead COMMAND [FLAGS]; fairlead COMMAND --help tells more\n\n";
  for (const Command& command : kCommands)
    out << "  " << command.name << std::string(14 - command.name.size(), ' ') << command.meaning << "\n";
  return status;
}

// The command of a call that names none: images call pilot-agent, and container runtimes call a plugin by
// whatever name it was installed under, without a word.
std::string_view UnsaidCommand(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  if (path.substr(path.rfind('/') + 1) == "pilot-agent") return "agent";
  return argc == 1 && std::getenv("CNI_COMMAND") != nullptr ? "cni" : "";
}

int Unknown(const std::string& name) {
  Arguments known;
  for (const Command& command : kCommands) known.emplace_back(command.name);
  const std::string meant = ClosestName(name, known);
  if (!name.empty())
    std::cerr << "fairlead: unknown command " << name
              << (meant.empty() ? "" : "; did you mean " + meant + "?") << "\n";
  return Usage(std::cerr, kWrongCall);
}

}  // namespace

int RunCommand(int argc, char** argv) {
  Arguments arguments(argv + std::min(argc, 2), argv + argc);
  std::string name = argc > 1 ? argv[1] : "";
  if (const std::string_view meant = UnsaidCommand(argc, argv); !meant.empty()) {
    name = meant;
    arguments.assign(argv + 1, argv + argc);
  }
  if (name == "--version" || name == "-v") name = "version";
  const bool help = name == "--help" || name == "-h" || name == "help";
  if (help && arguments.empty()) return Usage(std::cout, 0);
  if (help) {
    name = arguments.front();
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  for (const Command& command : kCommands) {
    if (command.name == name) return command.run(arguments);
  }
  return Unknown(name);
}

}  // namespace fairlead::app
