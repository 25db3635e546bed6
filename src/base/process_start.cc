#include "base/process_start.h"

#include <signal.h>
#include <unistd.h>

#include <string_view>

#include "base/strings.h"

namespace fairlead {

std::map<std::string, std::string, std::less<>> OwnVariables() {
  std::map<std::string, std::string, std::less<>> variables;
  for (char** own = environ; *own != nullptr; ++own) {
    const std::string_view text(*own);
    if (const size_t equals = text.find('='); equals != std::string_view::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::vector<std::string> VariablesWith(const std::map<std::string, std::string>& more) {
  std::vector<std::string> all;
  for (char** own = environ; *own != nullptr; ++own) {
    const std::string_view text(*own);
    if (!more.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(StrCat(name, "=", value));
  return all;
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

ProcessStart::ProcessStart() {
  posix_spawn_file_actions_init(&actions_);
  posix_spawnattr_init(&attributes_);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setsigdefault(&attributes_, &all);
  posix_spawnattr_setpgroup(&attributes_, 0);
  posix_spawnattr_setflags(&attributes_,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

ProcessStart::~ProcessStart() {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawnattr_destroy(&attributes_);
}

void ProcessStart::SetFile(int number, int ours) {
  posix_spawn_file_actions_adddup2(&actions_, ours, number);
}

void ProcessStart::SetNull(int number, int flags) {
  posix_spawn_file_actions_addopen(&actions_, number, "/dev/null", flags, 0);
}

int ProcessStart::Start(std::vector<std::string> words, std::vector<std::string> variables,
                        pid_t* pid) const {
  return posix_spawnp(pid, words[0].c_str(), &actions_, &attributes_, PointersTo(words).data(),
                      PointersTo(variables).data());
}

}  // namespace fairlead
