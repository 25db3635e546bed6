#include "source/file/inotify.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead::source {
namespace {

constexpr uint32_t kFolderEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE |
                                   IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

absl::Status Failed(std::string_view what, int error) {
  const std::string text = StrCat(what, ": ", ErrnoText(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(ToAbsl(text));
    case EACCES:
      return absl::PermissionDeniedError(ToAbsl(text));
    default:
      return absl::ResourceExhaustedError(ToAbsl(text));
  }
}

}  // namespace

Inotify::~Inotify() { Close(); }

absl::Status Inotify::Open() {
  fd_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  return fd_ >= 0 ? absl::OkStatus() : Failed("inotify_init1", errno);
}

void Inotify::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  watched_.clear();
}

absl::Status Inotify::Watch(const std::string& folder, WatchRole role) {
  const int descriptor = inotify_add_watch(fd_, folder.c_str(), kFolderEvents);
  if (descriptor < 0) return Failed(StrCat("cannot watch ", folder), errno);
  Watched& watched = watched_[descriptor];
  if (watched.generation != generation_) watched = {folder, 0, generation_};
  // Events of the files that are read must name the path under which they are listed.
  if (role == kFolderRole) watched.folder = folder;
  watched.roles |= role;
  return absl::OkStatus();
}

void Inotify::EndGeneration() {
  for (const auto& [descriptor, watched] : watched_) {
    if (watched.generation != generation_) inotify_rm_watch(fd_, descriptor);
  }
  absl::erase_if(watched_, [&](const auto& entry) { return entry.second.generation != generation_; });
}

std::vector<FileEvent> Inotify::Read() {
  std::vector<FileEvent> events;
  alignas(inotify_event) char buffer[64 << 10];
  for (;;) {
    const ssize_t size = read(fd_, buffer, sizeof buffer);
    if (size <= 0) return events;
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      if (event->mask & IN_Q_OVERFLOW) {
        events.push_back({0, event->mask, "", ""});
        continue;
      }
      const auto it = watched_.find(event->wd);
      if (it == watched_.end()) continue;  // dropped meanwhile
      events.push_back({it->second.roles, event->mask, it->second.folder, event->len > 0 ? event->name : ""});
      if (event->mask & IN_IGNORED) watched_.erase(it);
    }
  }
}

}  // namespace fairlead::source
