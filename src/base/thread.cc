#include "base/thread.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/strings.h"

namespace fairlead {

absl::StatusOr<std::thread> StartThread(std::function<void()> run) {
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(StrCat("cannot start a thread: ", error.code().message()));
  }
}

std::thread RequireThread(std::function<void()> run) {
  absl::StatusOr<std::thread> thread = StartThread(std::move(run));
  if (thread.ok()) return *std::move(thread);
  std::fprintf(stderr, "fairlead: %s\n", std::string(FromAbsl(thread.status().message())).c_str());
  std::_Exit(EXIT_FAILURE);
}

}  // namespace fairlead
