#ifndef FAIRLEAD_AGENT_SUPERVISOR_H_
#define FAIRLEAD_AGENT_SUPERVISOR_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "agent/envoy_output.h"
#include "agent/envoy_process.h"
#include "agent/health_server.h"
#include "agent/options.h"
#include "agent/readiness.h"

namespace fairlead::agent {

// Blocks the supervisor's signals in every thread from now on, so that none of them ends the process. To be
// called before there are other threads.
void BlockSignals();

// Waits for SIGTERM or SIGINT, where there is no Envoy; SIGHUP and SIGUSR1 do nothing. REQUIRES:
// BlockSignals().
void WaitForStop();

// Runs Envoy and reacts to signals, all on the calling thread. SIGTERM and SIGINT stop, SIGUSR1 goes to
// Envoy, which reopens its log files, SIGHUP does nothing.
class Supervisor {
 public:
  // All pointers must outlive it. REQUIRES: BlockSignals().
  Supervisor(const Options& options, const EnvoyOutput& output, HealthServer* health,
             Readiness::Reasons reasons);
  // Starts Envoy, anew each time that it ends, until a stop is asked for; the process's exit status.
  int Run(const ChildCommand& command);
  // What other threads may ask for: the end of Envoy and the agent without draining; and draining now, so
  // that a later end needs none. Thread-safe.
  void Quit();
  absl::Status Drain();

 private:
  using milliseconds = std::chrono::milliseconds;

  // Takes the next signal that is for the agent, waiting at most `limit` (for ever where there is none); 0
  // where none came.
  int NextSignal(std::optional<milliseconds> limit);
  // Reaps `child` if it has ended.
  bool Ended(pid_t child);
  // Until the child ends (true) or a stop is asked for (false). Tells meanwhile why it is not ready.
  bool WaitForEnd(pid_t child);
  bool EndedWithin(pid_t child, milliseconds limit);
  bool StopAskedWithin(milliseconds limit);
  // Lets requests that are under way finish: listeners drain, connections end, then Envoy does.
  int Stop(pid_t child);
  // Until no connection is left, asked each second after the minimum; true if Envoy ended by itself.
  bool WaitForConnections(pid_t child);

  const Options& options_;
  const EnvoyOutput& output_;
  HealthServer* const health_;
  const Readiness::Reasons reasons_;
  const Admin admin_;
  pid_t running_ = 0;                 // 0: none
  bool said_hangup_ = false;          // that SIGHUP does nothing
  std::atomic<bool> drained_{false};  // or need not be
  std::optional<int> ended_;          // wait status of the last Envoy
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_SUPERVISOR_H_
