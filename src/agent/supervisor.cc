#include "agent/supervisor.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/bootstrap/workload_addresses.h"
#include "agent/notice.h"
#include "agent/small_memory.h"
#include "base/clock.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using std::chrono::milliseconds;

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD}) sigaddset(&signals, one);
  return signals;
}

std::string Message(const absl::Status& status) { return std::string(FromAbsl(status.message())); }

std::string Describe(int status) {
  if (WIFSIGNALED(status)) return StrCat("signal ", WTERMSIG(status));
  return StrCat("status ", WEXITSTATUS(status));
}

milliseconds Since(Clock::time_point start) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
}

}  // namespace

void BlockSignals() {
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void WaitForStop() {
  const sigset_t signals = Signals();
  const timespec start{5, 0};
  bool started = false;
  for (;;) {
    const int got = started ? sigwaitinfo(&signals, nullptr) : sigtimedwait(&signals, nullptr, &start);
    if (got == SIGTERM || got == SIGINT) return;
    if (!std::exchange(started, true)) ReleaseStartPages();
  }
}

Supervisor::Supervisor(const Options& options, const EnvoyOutput& output, HealthServer* health,
                       Readiness::Reasons reasons)
    : options_(options),
      output_(output),
      health_(health),
      reasons_(std::move(reasons)),
      admin_(options.admin_port, AllIpv6(options.addresses)) {}

int Supervisor::Run(const ChildCommand& command) {
  Backoff backoff;
  for (;;) {
    const auto started = StartProcess(command, output_.out(), output_.error());
    if (!started.ok()) {
      Say(Message(started.status()));
      return 1;  // not to be run at all: no use in trying again
    }
    running_ = *started;
    const Clock::time_point start = Clock::now();
    Say(StrCat("Envoy runs as process ", *started));
    health_->Set(HealthServer::kRuns);
    if (!WaitForEnd(*started)) return Stop(*started);
    running_ = 0;
    health_->Set(HealthServer::kDoesNotRun);
    const milliseconds ran = Since(start), wait = backoff.Next(ran);
    Say(StrCat("Envoy ended after ", ran.count(), " ms (", Describe(*ended_), "); next start in ",
               wait.count(), " ms"));
    if (StopAskedWithin(wait)) return 0;
  }
}

int Supervisor::NextSignal(std::optional<milliseconds> limit) {
  const sigset_t signals = Signals();
  int got = 0;
  if (limit) {
    const timespec time{limit->count() / 1000, (limit->count() % 1000) * 1'000'000};
    got = sigtimedwait(&signals, nullptr, &time);
  } else {
    got = sigwaitinfo(&signals, nullptr);
  }
  if (got == SIGUSR1 && running_ != 0) kill(running_, SIGUSR1);
  if (got == SIGHUP && !std::exchange(said_hangup_, true)) Say("SIGHUP: nothing to do, files are watched");
  return got == SIGUSR1 || got == SIGHUP || got < 0 ? 0 : got;
}

bool Supervisor::Ended(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) != child) return false;
  ended_ = status;
  return true;
}

bool Supervisor::WaitForEnd(pid_t child) {
  // Configuration goes on to come for a while, and comes now and then.
  constexpr milliseconds kLook{500}, kSettle{10'000}, kRest{600'000};
  const Clock::time_point start = Clock::now();
  Clock::time_point next = start;
  Readiness readiness([this](const std::string& path) { return admin_.Get(path); },
                      options_.discovery_address, reasons_);
  milliseconds rest = kSettle;
  while (!Ended(child)) {
    const int got = NextSignal(readiness.ready() ? rest : kLook);
    if (got == SIGTERM || got == SIGINT) return false;
    if (Clock::now() < next) continue;
    if (readiness.ready()) {
      ReleaseStartPages();
      rest = kRest;
    } else if (const std::string text = readiness.Look(Since(start)); !text.empty()) {
      Say(text);
    }
    next = Clock::now() + (readiness.ready() ? rest : kLook);
  }
  return true;
}

bool Supervisor::EndedWithin(pid_t child, milliseconds limit) {
  const Clock::time_point start = Clock::now();
  while (!Ended(child)) {
    const milliseconds left = limit - Since(start);
    if (left.count() <= 0) return false;
    NextSignal(std::min(left, milliseconds(200)));
  }
  return true;
}

bool Supervisor::StopAskedWithin(milliseconds limit) {
  const Clock::time_point start = Clock::now();
  for (;;) {
    const milliseconds left = limit - Since(start);
    if (left.count() <= 0) return false;
    const int got = NextSignal(left);
    if (got == SIGTERM || got == SIGINT) return true;
  }
}

void Supervisor::Quit() {
  drained_ = true;
  kill(getpid(), SIGTERM);
}

absl::Status Supervisor::Drain() {
  drained_ = true;
  const std::string which =
      options_.type == "sidecar" ? "?inboundonly&graceful&skip_exit" : "?graceful&skip_exit";
  return admin_.Post("/drain_listeners" + which).status();
}

int Supervisor::Stop(pid_t child) {
  const bool drained = drained_;
  health_->Set(HealthServer::kStops);
  Say(drained ? "stopping: Envoy has drained, or need not" : "stopping: Envoy drains its listeners");
  if (const absl::Status status = drained ? absl::OkStatus() : Drain(); !status.ok())
    Say(StrCat("listeners cannot be drained: ", Message(status)));
  bool ended = false;
  if (!drained)
    ended = options_.exit_on_zero_active_connections
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

bool Supervisor::WaitForConnections(pid_t child) {
  if (EndedWithin(child, options_.minimum_drain_duration)) return true;
  for (DrainProgress progress;;) {
    const auto active =
        admin_.ActiveConnections({options_.prometheus_port, options_.envoy_status_port,
                                  options_.secure_metrics_port, options_.secure_merged_metrics_port});
    if (progress.Done(active)) return false;
    Say(active.ok() ? StrCat(*active, " connections are open") : Message(active.status()));
    if (EndedWithin(child, milliseconds(1'000))) return true;
  }
}

}  // namespace fairlead::agent
