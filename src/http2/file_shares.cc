#include "http2/file_shares.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/errno_text.h"
#include "base/log.h"

namespace fairlead::http2 {
namespace {

LogScope transport_log("transport");

constexpr size_t kOtherFiles = 256;
constexpr size_t kMonitoring = 256, kControl = 32;

}  // namespace

size_t RaiseFileLimit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return SIZE_MAX;
  if (files.rlim_cur < files.rlim_max) {
    const rlimit raised{files.rlim_max, files.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      files = raised;
    } else {
      transport_log.Warn("the limit of open files stays at {}: {}", files.rlim_cur, ErrnoText(errno));
    }
  }
  return files.rlim_cur == RLIM_INFINITY ? SIZE_MAX : static_cast<size_t>(files.rlim_cur);
}

FileShares ShareFiles(size_t limit, size_t http_wish) {
  const size_t free = limit - std::min(kOtherFiles, limit / 4);
  FileShares shares;
  shares.http = std::max<size_t>(1, std::min(http_wish, free / 8));
  shares.monitoring = std::max<size_t>(1, std::min(kMonitoring, free / 16));
  shares.control = std::max<size_t>(1, std::min(kControl, free / 32));
  const size_t others = shares.http + shares.monitoring + shares.control;
  shares.streams = std::max<size_t>(1, free - std::min(free, others));
  return shares;
}

}  // namespace fairlead::http2
