#include "cni/pod_namespace.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead::cni {
namespace {

// The user namespace of a network namespace; -1 where it is this process's.
int UsersOf(int network_namespace) {
  const int users = ioctl(network_namespace, NS_GET_USERNS);
  if (users < 0) return -1;
  struct stat own {
  }, theirs{};
  const bool same =
      stat("/proc/self/ns/user", &own) == 0 && fstat(users, &theirs) == 0 && own.st_ino == theirs.st_ino;
  if (!same) return users;
  close(users);
  return -1;
}

}  // namespace

absl::StatusOr<PodNamespace> PodNamespace::Enter(const std::string& path) {
  PodNamespace entered;
  entered.path_ = path;
  entered.file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (entered.file_ < 0) return absl::UnavailableError(StrCat(path, ": ", ErrnoText(errno)));
  const int before = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (before < 0) return absl::UnavailableError(StrCat("/proc/thread-self/ns/net: ", ErrnoText(errno)));
  if (setns(entered.file_, CLONE_NEWNET) != 0) {
    const int error = errno;
    close(before);
    return absl::UnavailableError(
        StrCat(path, ": this network namespace cannot be entered: ", ErrnoText(error)));
  }
  entered.before_ = before;
  entered.users_ = UsersOf(entered.file_);
  return entered;
}

PodNamespace::PodNamespace(PodNamespace&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      before_(std::exchange(other.before_, -1)),
      users_(std::exchange(other.users_, -1)) {}

PodNamespace::~PodNamespace() {
  if (before_ >= 0 && setns(before_, CLONE_NEWNET) != 0) _exit(1);  // nothing may happen in the wrong one
  for (const int file : {file_, before_, users_}) {
    if (file >= 0) close(file);
  }
}

redirect::ProgramSurroundings PodNamespace::Inside() const {
  redirect::ProgramSurroundings inside;
  inside.variables["XTABLES_LOCKFILE"] = path_;
  if (users_ >= 0) {
    inside.user_namespace = users_;
    inside.network_namespace = file_;
  }
  return inside;
}

}  // namespace fairlead::cni
