#include "source/file/watched_file.h"

#include <utility>

#include "base/strings.h"
#include "base/thread.h"
#include "source/file/read_file.h"

namespace fairlead::source {
namespace {

WatchOptions OptionsFor(const std::string& path, WatchOptions timing) {
  timing.folder = ParentOf(path);
  timing.recursive = false;
  timing.wants = [name = std::string(BaseName(path))](std::string_view other) { return other == name; };
  return timing;
}

}  // namespace

WatchedFile::WatchedFile(std::string path, Callback callback, WatchOptions timing)
    : path_(std::move(path)),
      callback_(std::move(callback)),
      watcher_(std::make_unique<FolderWatcher>(OptionsFor(path_, std::move(timing)))) {}

WatchedFile::~WatchedFile() { Stop(); }

absl::Status WatchedFile::Start() {
  if (absl::Status status = watcher_->Open(); !status.ok()) return status;
  watcher_->Next();
  told_ = ReadFile(path_);
  callback_(told_);
  auto thread = StartThread([this] { Run(); });
  if (thread.ok()) thread_ = std::move(*thread);
  return thread.status();
}

void WatchedFile::Stop() {
  if (!thread_.joinable()) return;
  watcher_->Stop();
  thread_.join();
}

void WatchedFile::Run() {
  for (;;) {
    const FolderChanges changes = watcher_->Next();
    if (changes.stopped) return;
    for (const FileChange& change : changes.files) Tell(change.kind);
  }
}

void WatchedFile::Tell(FileChange::Kind kind) {
  if (kind == FileChange::Kind::kUnfinished) return;  // until it is closed
  absl::StatusOr<std::string> now = ReadFile(path_);
  if (watcher_->ChangedSince(path_) && now.ok()) return;  // there will be another call
  const bool same = now.ok() ? told_.ok() && *told_ == *now : now.status() == told_.status();
  if (same) return;
  told_ = std::move(now);
  callback_(told_);
}

}  // namespace fairlead::source
