#ifndef FAIRLEAD_BASE_PROCESS_START_H_
#define FAIRLEAD_BASE_PROCESS_START_H_

#include <spawn.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

// What every start of a program needs, by posix_spawn or by fork.
namespace fairlead {

// The process's own variables, by name.
std::map<std::string, std::string, std::less<>> OwnVariables();

// As execve takes them, "NAME=value": the process's own, but for those that are given anew.
std::vector<std::string> VariablesWith(const std::map<std::string, std::string>& more);

// As execve takes them: null comes last. Good as long as the texts.
std::vector<char*> PointersTo(std::vector<std::string>& texts);

// A start by posix_spawn: the program leads a process group of its own, and no signal is blocked or ignored.
class ProcessStart {
 public:
  ProcessStart();
  ~ProcessStart();
  ProcessStart(const ProcessStart&) = delete;
  ProcessStart& operator=(const ProcessStart&) = delete;

  // Its file `number` is one of ours, or /dev/null with the flags of open(2).
  void SetFile(int number, int ours);
  void SetNull(int number, int flags);

  // The program's name, which is looked for in PATH, is words[0]. 0, or an errno.
  int Start(std::vector<std::string> words, std::vector<std::string> variables, pid_t* pid) const;

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_PROCESS_START_H_
