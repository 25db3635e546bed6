#include "redirect/sandbox.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead::redirect {
namespace {

absl::Status Failed(std::string_view action) {
  return absl::UnavailableError(StrCat(action, ": ", ErrnoText(errno)));
}

absl::Status Cover(const char* file, const std::string& by) {
  if (access(file, F_OK) != 0) return absl::OkStatus();
  if (mount(by.c_str(), file, nullptr, MS_BIND | MS_RDONLY, nullptr) == 0) return absl::OkStatus();
  return Failed(StrCat(file, " cannot be covered by ", by));
}

}  // namespace

absl::Status EnterSandbox(const std::string& lock) {
  if (unshare(CLONE_NEWNS) != 0) return Failed("there is no mount namespace to be had");
  // Some systems forbid one of the two; with either, the node does not see our mounts.
  if (mount(nullptr, "/", nullptr, MS_PRIVATE | MS_REC, nullptr) != 0 &&
      mount(nullptr, "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0)
    return Failed("the mounts cannot be kept apart");
  if (absl::Status status = Cover("/etc/nsswitch.conf", "/dev/null"); !status.ok()) return status;
  if (lock.empty()) return absl::OkStatus();
  // iptables makes it where it is missing.
  if (const int fd = open("/run/xtables.lock", O_RDONLY | O_CREAT | O_CLOEXEC, 0600); fd >= 0) close(fd);
  return Cover("/run/xtables.lock", lock);
}

}  // namespace fairlead::redirect
