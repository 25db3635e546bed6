#ifndef FAIRLEAD_AGENT_ENVOY_PROCESS_H_
#define FAIRLEAD_AGENT_ENVOY_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/options.h"

namespace fairlead::agent {

// Envoy's command line, the program's name first. Source: Envoy's "Command line options".
std::vector<std::string> EnvoyCommand(const Options& options, const std::string& bootstrap_file);

// Starts a command as a child in its own process group; gives its process id. `out` and `error` become its
// standard output and error, -1: the caller's. It gets SIGTERM where the calling thread ends before it.
absl::StatusOr<pid_t> StartProcess(const std::vector<std::string>& command, int out = -1, int error = -1);

// The wait before the next start of an Envoy that died. It doubles from 200 ms to 10 s, and starts over after
// a minute of life. Pure.
class Backoff {
 public:
  std::chrono::milliseconds Next(std::chrono::milliseconds ran);

 private:
  std::chrono::milliseconds next_{200};
};

// Envoy's administration interface on the loopback address.
class Admin {
 public:
  explicit Admin(int port) : port_(port) {}
  // The body of an answer with status 200.
  absl::StatusOr<std::string> Post(const std::string& path) const { return Request("POST", path); }
  absl::StatusOr<std::string> Get(const std::string& path) const { return Request("GET", path); }
  // Downstream connections of all listeners but the ones of the bootstrap's own (administration, Prometheus).
  absl::StatusOr<int> ActiveConnections(int prometheus_port) const;

 private:
  absl::StatusOr<std::string> Request(const std::string& method, const std::string& path) const;
  int port_;
};

// Decides when a draining Envoy may be ended: without an open connection, or after five failures of its
// administration port in a row.
class DrainProgress {
 public:
  bool Done(const absl::StatusOr<int>& active);

 private:
  int failures_ = 0;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_ENVOY_PROCESS_H_
