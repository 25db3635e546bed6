#ifndef FAIRLEAD_KUBE_PROGRAM_H_
#define FAIRLEAD_KUBE_PROGRAM_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace fairlead::kube {

struct Program {
  std::string command;  // a path, or a name that PATH finds
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // besides the process's own
  std::chrono::milliseconds time_limit{30'000};
  size_t most_output = 1 << 20;  // bytes
};

// Runs a program to its end and gives what it wrote to its standard output. NotFound where there is none,
// DeadlineExceeded and ResourceExhausted at its limits, Unavailable where it fails, with the beginning of
// what it wrote to its standard error; Cancelled soon after `stopping` (may be null) is true. Whatever
// happens, the program and what it started in its group are gone then. Blocks.
absl::StatusOr<std::string> RunProgram(const Program& program, const std::atomic<bool>* stopping = nullptr);

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_PROGRAM_H_
