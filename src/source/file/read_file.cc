#include "source/file/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead::source {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

absl::Status Failed(const std::string& path, int error) {
  const std::string text = StrCat("cannot read ", path, ": ", ErrnoText(error));
  if (error == ENOENT) return absl::NotFoundError(ToAbsl(text));
  if (error == EACCES) return absl::PermissionDeniedError(ToAbsl(text));
  return absl::UnavailableError(ToAbsl(text));
}

bool SameVersion(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

absl::Status ReadAll(int descriptor, const std::string& path, std::string* text) {
  size_t filled = 0;
  for (;;) {
    if (filled == text->size()) text->resize(text->size() + (64 << 10));
    const ssize_t size = read(descriptor, text->data() + filled, text->size() - filled);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Failed(path, errno);
    if (size == 0) break;
    filled += static_cast<size_t>(size);
  }
  text->resize(filled);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::string text;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat before, after;
    if (file.number() < 0 || fstat(file.number(), &before) != 0) return Failed(path, errno);
    if (!S_ISREG(before.st_mode))
      return absl::FailedPreconditionError(ToAbsl(StrCat(path, " is no regular file")));
    text.resize(static_cast<size_t>(before.st_size) +
                1);  // one more, so that the end shows without a second read
    if (const absl::Status status = ReadAll(file.number(), path, &text); !status.ok()) return status;
    if (fstat(file.number(), &after) == 0 && SameVersion(before, after)) break;
  }
  return text;
}

}  // namespace fairlead::source
