#include "source/file/folder_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "source/file/watched_files.h"

namespace fairlead::source {
namespace {

using std::chrono::milliseconds;

// Changes that come this close together are told together.
constexpr milliseconds kTogether{2};
// A file that a listing finds, or an empty one, may be in the middle of being written, with the event still
// to come: a truncation shows some milliseconds before its event. It must look the same after this time.
constexpr milliseconds kSettle{30};
// Between two looks at a file of a polled folder, which must be alike.
constexpr milliseconds kPolledSettle{200};

}  // namespace

FolderWatcher::FolderWatcher(WatchOptions options)
    : options_(std::move(options)), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

FolderWatcher::~FolderWatcher() {
  if (wake_ >= 0) close(wake_);
}

absl::Status FolderWatcher::Open() {
  if (wake_ < 0) return absl::ResourceExhaustedError("no eventfd is left");
  struct stat status;
  if (stat(options_.folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return absl::NotFoundError(ToAbsl(StrCat(options_.folder, " is no folder")));
  }
  if (options_.poll) {
    polling_ = true;
  } else if (const absl::Status opened = inotify_.Open(); !opened.ok()) {
    FallBackToPolling(FromAbsl(opened.message()));
  } else if (IsRemote(options_.folder)) {
    FallBackToPolling("a network file system tells nothing of other machines' changes");
  }
  return absl::OkStatus();
}

void FolderWatcher::FallBackToPolling(std::string_view reason) {
  polling_ = true;
  polling_problem_ = PathProblem{options_.folder,
                                 StrCat("the folder is listed every ", options_.poll_interval.count(),
                                        " ms instead of being watched: ", reason),
                                 true};
}

void FolderWatcher::Stop() {
  stopped_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

FolderChanges FolderWatcher::First() {
  first_ = false;
  Rescan();
  FolderChanges changes;
  for (auto it = pending_.begin(); it != pending_.end(); it = pending_.erase(it)) {
    FileInfo info;
    if (!StatFile(it->first, &info)) continue;
    known_[it->first] = info.fingerprint;
    changes.files.push_back({FileChange::Kind::kReady, it->first});
  }
  for (const PathProblem& problem : problems_) {
    // A link that leads nowhere is a file that cannot be read.
    if (!problem.warning || problem.path == options_.folder || !IsBlocked(problem.path)) continue;
    known_[problem.path] = {};
    changes.files.push_back({FileChange::Kind::kReady, problem.path});
  }
  changes.problems = told_problems_ = problems_;
  return changes;
}

FolderChanges FolderWatcher::Next(Clock::time_point until) {
  if (first_ && !stopped_) return First();
  FolderChanges changes;
  while (!stopped_) {
    HandleEvents();
    if (rescan_at_ <= Clock::now()) Rescan();
    Flush(&changes.files);
    if (!changes.files.empty() || problems_ != told_problems_) {
      changes.problems = told_problems_ = problems_;
      return changes;
    }
    changes.timed_out = until <= Clock::now();
    if (changes.timed_out) return changes;
    Wait(until);
  }
  changes.stopped = true;
  return changes;
}

bool FolderWatcher::ChangedSince(const std::string& path) {
  HandleEvents();
  FileInfo info;
  const auto known = known_.find(path);
  const bool same = StatFile(path, &info) && known != known_.end() && known->second == info.fingerprint;
  // Whatever the next listing finds will differ from this.
  if (!same && known != known_.end()) known->second = {};
  return !same || writing_.contains(path) || pending_.contains(path);
}

FolderWatcher::Clock::time_point FolderWatcher::NextDeadline() const {
  Clock::time_point deadline = rescan_at_;
  for (const auto& [path, pending] : pending_) deadline = std::min(deadline, pending.due);
  return deadline;
}

void FolderWatcher::Wait(Clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(std::min(NextDeadline(), until) - Clock::now()).count();
  pollfd descriptors[2] = {{wake_, POLLIN, 0}, {inotify_.fd(), POLLIN, 0}};
  poll(descriptors, inotify_.fd() >= 0 ? 2 : 1, static_cast<int>(std::max<int64_t>(left, 0)));
}

void FolderWatcher::WatchFolder(const std::string& folder, WatchRole role) {
  if (inotify_.fd() < 0) return;
  const absl::Status status = inotify_.Watch(folder, role);
  // Faults of the folder itself show when it is listed.
  if (absl::IsResourceExhausted(status)) FallBackToPolling(FromAbsl(status.message()));
}

void FolderWatcher::Rescan() {
  inotify_.BeginGeneration();
  WatchFolder(ParentOf(options_.folder), kParentRole);
  ScanOptions scan;
  scan.recursive = options_.recursive;
  scan.wants = options_.wants;
  scan.on_folder = [this](const std::string& folder) { WatchFolder(folder, kFolderRole); };
  scan.on_link_target = [this](const std::string& folder) { WatchFolder(folder, kTargetRole); };
  const FolderListing listing = ScanFolder(options_.folder, scan);
  if (inotify_.fd() >= 0) inotify_.EndGeneration();
  TakeListing(listing);
  const milliseconds interval = polling_ ? options_.poll_interval : options_.safety_rescan;
  rescan_at_ = Clock::now() + (listing.missing ? std::min(interval, options_.poll_interval) : interval);
}

void FolderWatcher::TakeListing(const FolderListing& listing) {
  problems_ = listing.problems;
  if (polling_problem_) problems_.push_back(*polling_problem_);
  if (listing.missing) {
    problems_.push_back({options_.folder, "the folder is missing; what it held last stays in effect", false});
    return;
  }
  folder_links_ = listing.folder_links;
  for (const auto& [path, info] : listing.files) {
    const auto known = known_.find(path);
    if (known == known_.end() || known->second != info.fingerprint) {
      Found(path, info);
    } else if (const auto it = pending_.find(path); it != pending_.end() && it->second.gone) {
      pending_.erase(it);
    }
  }
  for (const auto& [path, fingerprint] : known_) {
    if (listing.files.contains(path)) continue;
    // What lies in a folder that cannot be listed is not gone.
    const bool hidden =
        std::any_of(listing.problems.begin(), listing.problems.end(), [&](const PathProblem& problem) {
          return path.starts_with(problem.path) &&
                 (path.size() == problem.path.size() || path[problem.path.size()] == '/');
        });
    if (!hidden) Gone(path);
  }
}

void FolderWatcher::Found(const std::string& path, const FileInfo& info) {
  Pending& pending = pending_.try_emplace(path, Pending{Clock::time_point::max(), false, {}}).first->second;
  const bool in_hand = !pending.gone && pending.due != Clock::time_point::max();
  if (in_hand) return;  // an event has told of it already
  // What links are swapped to is whole already.
  const bool whole = info.symlink && info.fingerprint.size > 0;
  const milliseconds wait = polling_ ? kPolledSettle : whole ? milliseconds{0} : kSettle;
  pending = {Clock::now() + wait, false, info.fingerprint};
}

void FolderWatcher::HandleEvents() {
  uint64_t count;
  [[maybe_unused]] const ssize_t size = read(wake_, &count, sizeof count);
  if (inotify_.fd() < 0) return;
  for (const FileEvent& event : inotify_.Read()) HandleEvent(event);
}

void FolderWatcher::HandleEvent(const FileEvent& event) {
  const Clock::time_point now = Clock::now();
  constexpr uint32_t kNameChanged = IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE;
  if (event.mask & IN_Q_OVERFLOW) {
    rescan_at_ = now;
    writing_.clear();
    return;
  }
  if (event.roles & kParentRole && event.mask & kNameChanged && event.name == BaseName(options_.folder)) {
    rescan_at_ = now;
  }
  if (event.roles & kTargetRole && event.mask & (kNameChanged | IN_CLOSE_WRITE | IN_ATTRIB)) rescan_at_ = now;
  if (!(event.roles & kFolderRole)) return;
  if (event.name.empty()) {
    if (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT | IN_ATTRIB)) rescan_at_ = now;
    return;
  }
  const std::string path = StrCat(event.folder, event.folder.ends_with('/') ? "" : "/", event.name);
  if (event.mask & IN_ISDIR) {
    const bool looked_into = options_.recursive && event.name[0] != '.';
    // A folder may have a file's name, and takes its place.
    const bool counts = looked_into || (options_.wants(event.name) && known_.contains(path));
    if (counts && event.mask & (kNameChanged | IN_ATTRIB)) rescan_at_ = now;
  } else if (options_.wants(event.name)) {
    HandleFileEvent(event, path);
  } else if (event.mask & kNameChanged) {
    HandleOtherName(path);
  }
}

// A name that is not wanted may still be a link to a folder, such as the "..data" of a Kubernetes volume,
// through which links with wanted names lead.
void FolderWatcher::HandleOtherName(const std::string& path) {
  struct stat status;
  const bool there = lstat(path.c_str(), &status) == 0;
  if (there ? S_ISLNK(status.st_mode) : folder_links_.contains(path)) rescan_at_ = Clock::now();
}

void FolderWatcher::HandleFileEvent(const FileEvent& event, const std::string& path) {
  // A file that could not be read may be mended: the next listing tells.
  const auto is_path = [&path](const PathProblem& problem) { return problem.path == path; };
  if (std::any_of(problems_.begin(), problems_.end(), is_path)) rescan_at_ = Clock::now();
  if (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) {
    writing_.erase(path);
    Ready(path);
  } else if (event.mask & (IN_DELETE | IN_MOVED_FROM)) {
    writing_.erase(path);
    Gone(path);
  } else if (event.mask & IN_ATTRIB) {
    if (!writing_.contains(path)) Ready(path);  // it may have become readable
  } else if (event.mask & IN_MODIFY) {
    writing_.insert(path);
    pending_[path] = {Clock::now() + options_.unfinished_after, false, {}};
  } else if (event.mask & IN_CREATE) {
    struct stat status;
    if (lstat(path.c_str(), &status) != 0) return;
    if (S_ISLNK(status.st_mode)) {
      rescan_at_ = Clock::now();  // watches where it leads, too
    } else if (status.st_nlink > 1) {
      Ready(path);  // a hard link: nobody writes it
    } else {
      writing_.insert(path);
      pending_[path] = {Clock::now() + options_.unfinished_after, false, {}};
    }
  }
}

void FolderWatcher::Ready(const std::string& path) {
  FileInfo info;
  if (StatFile(path, &info) && info.symlink) rescan_at_ = Clock::now();  // where it leads is watched, too
  Clock::time_point due = Clock::now() + kTogether;
  const auto it = pending_.find(path);
  if (it != pending_.end() && !it->second.gone)
    due = std::min(due, it->second.due);  // a stream of changes ends
  pending_[path] = {due, false, {}};
}

void FolderWatcher::Gone(const std::string& path) {
  if (!known_.contains(path)) {
    pending_.erase(path);
    return;
  }
  const auto [it, first] = pending_.try_emplace(path);
  if (!first && it->second.gone) return;
  const Clock::time_point now = Clock::now();
  it->second = {now + options_.removal_grace, true, {}, now};
}

// Where files are going one after the other, as in a folder that is being emptied: when the last one is due.
std::optional<FolderWatcher::Clock::time_point> FolderWatcher::LastGoing(Clock::time_point now) const {
  Clock::time_point first = now, last = now;
  for (const auto& [path, pending] : pending_) {
    if (!pending.gone) continue;
    first = std::min(first, pending.since);
    last = std::max(last, pending.due);
  }
  const bool more = last > now + kTogether && now - first < 10 * options_.removal_grace;
  return more ? std::optional(last) : std::nullopt;
}

void FolderWatcher::Flush(std::vector<FileChange>* changes) {
  const Clock::time_point now = Clock::now();
  const bool due =
      std::any_of(pending_.begin(), pending_.end(), [&](const auto& p) { return p.second.due <= now; });
  if (!due) return;
  struct stat status;
  const bool missing = stat(options_.folder.c_str(), &status) != 0;
  const std::optional<Clock::time_point> last_going = LastGoing(now);
  for (auto it = pending_.begin(); it != pending_.end();) {
    if (last_going && it->second.gone) it->second.due = *last_going;
    if (it->second.due > now + kTogether) {
      ++it;
      continue;
    }
    const auto [path, pending] = *it;
    it = pending_.erase(it);
    if (missing) continue;  // the next listing that finds the folder again compares
    if (std::optional<FileChange> change = Settle(path, pending)) changes->push_back(std::move(*change));
  }
}

// What is to be told of a path whose time has come; nothing where it has to wait on.
std::optional<FileChange> FolderWatcher::Settle(const std::string& path, const Pending& pending) {
  FileInfo info;
  if (!StatFile(path, &info)) {
    if (!pending.gone) {
      Gone(path);
      return std::nullopt;
    }
    if (IsBlocked(path)) {
      known_[path] = {};
      return FileChange{FileChange::Kind::kReady, path};
    }
    known_.erase(path);
    return FileChange{FileChange::Kind::kGone, path};
  }
  const bool looked_at = pending.found || info.fingerprint.size > 0;
  if (!looked_at || (pending.found && *pending.found != info.fingerprint)) {
    pending_[path] = {Clock::now() + (polling_ ? kPolledSettle : kSettle), false, info.fingerprint};
    return std::nullopt;
  }
  known_[path] = info.fingerprint;
  return FileChange{writing_.contains(path) ? FileChange::Kind::kUnfinished : FileChange::Kind::kReady, path};
}

}  // namespace fairlead::source
