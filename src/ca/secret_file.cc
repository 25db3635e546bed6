#include "ca/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/errno_text.h"
#include "base/files.h"
#include "base/strings.h"

namespace fairlead::ca {
namespace {

constexpr size_t kMost = 1 << 20;

absl::Status Unavailable(const std::string& path) {
  return absl::UnavailableError(StrCat(path, ": ", ErrnoText(errno)));
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

}  // namespace

absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return Unavailable(path);
  std::string content;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(file.get(), buffer, sizeof buffer);
    if (got < 0) return Unavailable(path);
    if (got == 0) return content;
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > kMost) return absl::InvalidArgumentError(StrCat(path, ": larger than 1 MiB"));
  }
}

absl::Status MakePrivateFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) {
    if (absl::Status status = CreateFolders(path.substr(0, slash)); !status.ok()) return status;
  }
  if (mkdir(path.c_str(), 0700) == 0) return absl::OkStatus();
  if (errno != EEXIST) return Unavailable(path);
  return CheckPrivate(path);
}

absl::Status CheckPrivate(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return Unavailable(path);
  if ((found.st_mode & 077) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat(path, ": holds a private key and is open to others than its owner"));
}

}  // namespace fairlead::ca
