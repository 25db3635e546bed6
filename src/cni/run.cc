#include "cni/run.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <utility>

#include "base/log.h"
#include "base/log_output.h"
#include "base/strings.h"
#include "cni/install.h"
#include "cni/node_options.h"
#include "cni/node_processes.h"
#include "cni/plugin.h"
#include "cni/pod_namespace.h"
#include "cni/pods_client.h"
#include "cni/repair.h"
#include "fetch/client.h"
#include "kube/watch_loop.h"
#include "redirect/run.h"
#include "redirect/sandbox.h"

namespace fairlead::cni {
namespace {

LogScope run_log("cni");

constexpr int kWrongCall = 2;
constexpr std::chrono::seconds kBetweenInstallations{5};

std::string Message(const absl::Status& status) { return std::string(FromAbsl(status.message())); }

int Fail(const absl::Status& status, int code) {
  FlushLogs();
  std::fprintf(stderr, "fairlead cni: %s\n", Message(status).c_str());
  return code;
}

// Signals that end the program are waited for; to be made before the first thread.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  // Whether one came, within this time.
  bool Wait(std::chrono::milliseconds time) const {
    const timespec limit{time.count() / 1000, (time.count() % 1000) * 1'000'000};
    return sigtimedwait(&signals_, nullptr, &limit) > 0;
  }

 private:
  sigset_t signals_{};
};

int RunPlugin() {
  // Standard output is the answer's.
  if (absl::Status status = SetLogOutput({.targets = {"stderr"}}); !status.ok()) return Fail(status, 1);
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  const int code =
      AnswerRuntime([](const char* name) { return std::getenv(name); }, input, SystemWorld(), std::cout);
  FlushLogs();
  return code;
}

int RunInstall(const NodeOptions& options, const StopSignals& signals) {
  char program[4096] = {};
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
    return Fail(absl::UnavailableError("/proc/self/exe cannot be read"), 1);
  Installation installation(options, program);
  std::string difficulty;
  do {
    const absl::Status status = installation.Renew();
    if (IsOn(options.once)) return status.ok() ? 0 : Fail(status, 1);
    // Once for each difficulty, not every five seconds.
    if (std::string now = Message(status); now != std::exchange(difficulty, now) && !status.ok())
      run_log.Warn("not installed: {}", difficulty);
  } while (!signals.Wait(kBetweenInstallations));
  const absl::Status removed = IsOn(options.clean_up) ? installation.Remove() : absl::OkStatus();
  return removed.ok() ? 0 : Fail(removed, 1);
}

// The rules of a pod that runs, in its namespace.
absl::Status RedirectRunning(const NodeOptions& options, const PodFacts& pod) {
  auto verdict = JudgePod(pod);
  if (!verdict.ok()) return verdict.status();
  if (!verdict->why_not.empty()) return absl::OkStatus();
  const auto file = FindPodNamespace(options.process_folder, pod.address);
  if (!file.ok()) return absl::UnavailableError(Message(file.status()));
  const auto entered = PodNamespace::Enter(*file);
  if (!entered.ok()) return entered.status();
  redirect::RedirectOptions& rules = verdict->options;
  rules.native_nftables = IsOn(options.native_nftables);
  if (absl::Status status = redirect::FillIn(redirect::CurrentAddresses(), &rules); !status.ok())
    return status;
  if (absl::Status status = redirect::Check(rules); !status.ok()) return status;
  return redirect::Redirect(rules, redirect::MakeRunner(entered->Inside()));
}

absl::StatusOr<kube::ServerAccess> AccessOf(const NodeOptions& options) {
  return options.kubeconfig.empty() ? kube::InClusterAccess(options.api_host, options.api_port)
                                    : kube::ReadKubeconfig(options.kubeconfig);
}

int RunRepair(const NodeOptions& options, const StopSignals& signals) {
  if (!IsOn(options.repair_pods) && !IsOn(options.delete_pods) && !IsOn(options.label_pods))
    return Fail(absl::InvalidArgumentError(
                    "--repair-repair-pods, --repair-delete-pods or --repair-label-pods is required"),
                kWrongCall);
  if (options.node.empty())
    return Fail(absl::InvalidArgumentError("--repair-node-name or NODE_NAME is required"), kWrongCall);
  auto access = AccessOf(options);
  if (!access.ok()) return Fail(access.status(), 1);
  if (IsOn(options.repair_pods)) {
    if (absl::Status status = redirect::EnterSandbox(""); !status.ok())
      run_log.Warn("without a sandbox: {}", Message(status));
  }
  PodsClient pods(*access);
  Repair repair(
      options,
      {.redirect = [&](const PodFacts& pod) { return RedirectRunning(options, pod); },
       .erase = [&](const PodFacts& pod) { return pods.Delete(pod); },
       .label = [&](const PodFacts& pod) { return pods.SetLabel(pod, options.label, options.label_value); }});
  kube::WatchLoop loop({}, *std::move(access), &fetch::Client::Shared());
  const auto id = loop.Add("/api/v1/pods", nullptr, &repair, SelectorOf(options));
  std::string difficulty;
  while (!signals.Wait(std::chrono::milliseconds(0))) {
    loop.Run(std::chrono::steady_clock::now() + std::chrono::milliseconds(500));
    repair.Work(std::chrono::steady_clock::now());
    const std::string& now = loop.Find(id)->trouble_text();
    if (now != std::exchange(difficulty, now) && !now.empty()) run_log.Warn("no news of Pods: {}", now);
  }
  return 0;
}

}  // namespace

int RunCni(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return RunPlugin();
  const StopSignals signals;
  auto options = ReadNodeOptions({arguments.begin() + 1, arguments.end()},
                                 [](const char* name) { return std::getenv(name); });
  const std::string& command = arguments.front();
  if (command == "--help" || command == "-h" || (options.ok() && options->help)) {
    std::fputs(NodeUsage().c_str(), stdout);
    return 0;
  }
  if (command != "install" && command != "repair")
    return Fail(absl::InvalidArgumentError(StrCat("\"", command, "\" is neither install nor repair")),
                kWrongCall);
  if (!options.ok()) return Fail(options.status(), kWrongCall);
  if (absl::Status status = SetLogLevels(options->log_level); !status.ok()) return Fail(status, kWrongCall);
  const int code = command == "install" ? RunInstall(*options, signals) : RunRepair(*options, signals);
  FlushLogs();
  return code;
}

}  // namespace fairlead::cni
