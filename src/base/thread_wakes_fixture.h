#ifndef FAIRLEAD_BASE_THREAD_WAKES_FIXTURE_H_
#define FAIRLEAD_BASE_THREAD_WAKES_FIXTURE_H_

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace fairlead {

// For tests: how often the threads of this process with that name have gone to sleep so far.
inline uint64_t SleepsOf(std::string_view thread) {
  uint64_t sleeps = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name, line;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    if (name != thread) continue;
    constexpr std::string_view kKey = "voluntary_ctxt_switches:";
    for (std::ifstream status(task.path() / "status"); std::getline(status, line);) {
      if (line.starts_with(kKey)) sleeps += std::stoull(line.substr(kKey.size()));
    }
  }
  return sleeps;
}

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_THREAD_WAKES_FIXTURE_H_
