#ifndef FAIRLEAD_AGENT_ENVOY_PROCESS_H_
#define FAIRLEAD_AGENT_ENVOY_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fairlead::agent {

// A program to be run: its command line, the program's name first, and variables besides the agent's own.
struct ChildCommand {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> variables;
};

// Starts a command as a child in its own process group; gives its process id. `out` and `error` become its
// standard output and error, -1: the caller's. It gets SIGTERM where the calling thread ends before it.
absl::StatusOr<pid_t> StartProcess(const ChildCommand& command, int out = -1, int error = -1);

// The wait before the next start of an Envoy that died. It doubles from 50 ms to 10 s, and starts over after
// a minute of life. Pure.
class Backoff {
 public:
  std::chrono::milliseconds Next(std::chrono::milliseconds ran);

 private:
  std::chrono::milliseconds next_{50};
};

// Envoy's administration interface on a loopback address. Thread-safe.
class Admin {
 public:
  explicit Admin(int port, bool ipv6 = false) : port_(port), ipv6_(ipv6) {}
  // The body of an answer with status 200.
  absl::StatusOr<std::string> Post(const std::string& path) const { return Request("POST", path); }
  absl::StatusOr<std::string> Get(const std::string& path) const { return Request("GET", path); }
  // Downstream connections of all listeners but Envoy's internal ones, the administration's, and those of the
  // bootstrap, which are at `own_ports`.
  absl::StatusOr<int> ActiveConnections(const std::vector<int>& own_ports) const;

 private:
  absl::StatusOr<std::string> Request(const std::string& method, const std::string& path) const;
  int port_;
  bool ipv6_;
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
