#ifndef FAIRLEAD_REDIRECT_PROGRAM_CALL_H_
#define FAIRLEAD_REDIRECT_PROGRAM_CALL_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fairlead::redirect {

// A program of the system, found by PATH.
struct ProgramCall {
  std::vector<std::string> words;  // its name first
  std::string input;               // its standard input
};

struct ProgramResult {
  static constexpr int kNotRun = -1;  // `error` says why

  int status = kNotRun;  // the exit status; 128 and the signal's number after a signal
  std::string output, error;

  bool ok() const { return status == 0; }
};

using RunProgram = std::function<ProgramResult(const ProgramCall&)>;

// Where programs run.
struct ProgramSurroundings {
  std::map<std::string, std::string> variables;  // besides the process's own
  // Files of namespaces to enter before the program starts, or -1: a user namespace, then a network
  // namespace. Others stay open for the caller.
  int user_namespace = -1, network_namespace = -1;
};

// Runs a program to its end, for a minute at most: it is killed then. Of either output the first 16 MiB
// count. Thread-safe. Blocks.
RunProgram MakeRunner(ProgramSurroundings surroundings = {});

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_PROGRAM_CALL_H_
