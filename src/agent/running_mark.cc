#include "agent/running_mark.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/errno_text.h"
#include "base/files.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

constexpr std::chrono::milliseconds kLook{50};

absl::Status Failed(const std::string& path, std::string_view what) {
  return absl::UnavailableError(ToAbsl(StrCat(path, ": ", what, ": ", ErrnoText(errno))));
}

bool Lock(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0; }

// 0 where the file has no number.
pid_t NumberIn(int file) {
  char text[24] = "";
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  pid_t number = 0;
  if (size > 0) std::from_chars(text, text + size, number);
  return std::max(number, 0);
}

}  // namespace

absl::StatusOr<RunningMark> RunningMark::Set(const std::string& path) {
  if (absl::Status status = CreatePrivateFolder(path.substr(0, path.rfind('/'))); !status.ok()) return status;
  http2::File file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return Failed(path, "cannot be opened");
  if (!Lock(file.get()))
    return absl::AlreadyExistsError(ToAbsl(StrCat("process ", NumberIn(file.get()), " runs it already")));
  const std::string text = StrCat(getpid(), "\n");
  if (ftruncate(file.get(), 0) != 0 ||
      pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return Failed(path, "cannot be written");
  return RunningMark(path, std::move(file));
}

// The file goes before its lock does: whoever opens it afterwards makes another.
RunningMark::~RunningMark() {
  if (file_.get() >= 0) unlink(path_.c_str());
}

absl::Status EndMarked(const std::string& path, std::chrono::milliseconds patience) {
  const http2::File file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0 || Lock(file.get())) return absl::NotFoundError("it does not run");
  const pid_t process = NumberIn(file.get());
  // While the lock is held, the number is that process's own.
  if (process == 0 || kill(process, SIGTERM) != 0) return Failed(path, "its process cannot be ended");
  for (const auto end = Clock::now() + patience; Clock::now() < end; std::this_thread::sleep_for(kLook)) {
    if (Lock(file.get())) return absl::OkStatus();
  }
  return absl::DeadlineExceededError(ToAbsl(StrCat("process ", process, " still runs")));
}

}  // namespace fairlead::agent
