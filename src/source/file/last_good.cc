#include "source/file/last_good.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "source/file/read_file.h"

namespace fairlead::source {
namespace {

LogScope state_log("state");

// The first line of a file: this, and the checksum of what follows.
constexpr std::string_view kFormat = "fairlead-last-good 1 ";
constexpr std::string_view kSuffix = ".good";
constexpr size_t kMostBytes = 64 << 20;  // of one file

metrics::Counter& WriteErrors() {
  static metrics::Counter& counter = metrics::GetCounter(
      "fairlead_state_write_errors_total", "Last good versions that could not be written to --stateDir.");
  return counter;
}

std::string ToText(const GoodFile& file, const std::string& path) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const GoodFile::Part& part : file.parts)
    parts.push_back({{"key", part.key}, {"time", part.time}, {"line", part.line}, {"text", part.text}});
  const nlohmann::ordered_json json = {
      {"path", path}, {"whole", ToHex(file.whole)}, {"parts", std::move(parts)}};
  const std::string body = JsonText(json) + "\n";
  return StrCat(kFormat, ToHex(StableHash(body)), "\n", body);
}

int64_t Number(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

// Nothing where the text is not what ToText made.
std::optional<GoodFile> FromText(std::string_view text) {
  const size_t end = text.find('\n');
  Hash128 sum;
  if (end == std::string_view::npos || !text.starts_with(kFormat) ||
      !ParseHex(text.substr(kFormat.size(), end - kFormat.size()), &sum))
    return std::nullopt;
  const std::string_view body = text.substr(end + 1);
  if (StableHash(body) != sum) return std::nullopt;
  const std::optional<nlohmann::json> json = ParseJson(body);
  if (!json || !json->is_object() || !json->contains("parts")) return std::nullopt;
  GoodFile file;
  file.path = JsonString(*json, "path");
  ParseHex(JsonString(*json, "whole"), &file.whole);
  for (const nlohmann::json& part : (*json)["parts"]) {
    file.parts.push_back({JsonString(part, "key"), Number(part, "time"),
                          static_cast<int>(Number(part, "line")), JsonString(part, "text")});
  }
  return file;
}

absl::Status Failed(std::string_view what, const std::string& path) {
  return absl::UnavailableError(StrCat("cannot ", what, " ", path, ": ", ErrnoText(errno)));
}

std::optional<GoodFile> Read(const std::string& name) {
  const absl::StatusOr<std::string> text = ReadFile(name);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  std::optional<GoodFile> file;
  if (text.ok()) file = FromText(*text);
  if (!file)
    state_log.Warn("{} is passed over: {}", name,
                   text.ok() ? "it is damaged, or of another version" : FromAbsl(text.status().message()));
  return file;
}

bool LiesIn(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

}  // namespace

absl::StatusOr<std::unique_ptr<LastGood>> LastGood::Open(std::string folder) {
  if (absl::Status status = CreateFolders(folder); !status.ok()) return status;
  chmod(folder.c_str(), 0700);
  const std::string name = folder + "/lock";
  int lock = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return Failed("write", name);
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    state_log.Warn("{} is in use by another process: last good versions are not written", folder);
    close(lock);
    lock = -1;
  }
  WriteErrors();
  return std::unique_ptr<LastGood>(new LastGood(std::move(folder), lock));
}

LastGood::~LastGood() {
  Flush();
  writer_.Stop();
  if (lock_ >= 0) close(lock_);
}

std::string LastGood::NameOf(const std::string& path) const {
  return StrCat(folder_, "/", ToHex(StableHash(AbsolutePath(path))), kSuffix);
}

std::optional<GoodFile> LastGood::Find(const std::string& path) const {
  std::optional<GoodFile> file = Read(NameOf(path));
  if (!file || file->path != AbsolutePath(path)) return std::nullopt;
  file->path = path;
  return file;
}

std::vector<GoodFile> LastGood::FilesIn(const std::string& folder) const {
  std::vector<GoodFile> files;
  const std::string absolute = AbsolutePath(folder);
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(folder_);
  if (!names.ok()) return files;
  for (const std::string& name : *names) {
    if (!name.ends_with(kSuffix)) continue;
    std::optional<GoodFile> file = Read(StrCat(folder_, "/", name));
    if (!file || !LiesIn(file->path, absolute)) continue;
    file->path = StrCat(folder, folder.ends_with('/') ? "" : "/", file->path.substr(absolute.size() + 1));
    files.push_back(*std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const GoodFile& a, const GoodFile& b) { return a.path < b.path; });
  return files;
}

bool LastGood::Holds(const std::string& path, const Hash128& whole) const {
  const std::optional<GoodFile> file = Find(path);
  return file && file->whole == whole && whole != Hash128();
}

void LastGood::Put(GoodFile file, std::set<std::string> stale) {
  Submit([this, file = std::move(file), stale = std::move(stale)]() mutable {
    const std::optional<GoodFile> before = Find(file.path);
    if (before) {
      for (const GoodFile::Part& part : before->parts) {
        if (stale.contains(part.key)) file.parts.push_back(part);
      }
    }
    std::stable_sort(file.parts.begin(), file.parts.end(),
                     [](const GoodFile::Part& a, const GoodFile::Part& b) { return a.line < b.line; });
    if (before && before->whole == file.whole && before->parts == file.parts) return;
    if (file.parts.empty()) {
      (void)RemoveFile(NameOf(file.path));
    } else {
      Write(file);
    }
  });
}

void LastGood::Write(const GoodFile& file) {
  const std::string name = NameOf(file.path);
  const std::string text = ToText(file, AbsolutePath(file.path));
  absl::Status status = text.size() <= kMostBytes
                            ? WritePrivateFile(name, text)
                            : absl::ResourceExhaustedError(StrCat(file.path, " is too large to be kept"));
  if (!status.ok()) {
    WriteErrors().Add();
    // An older version would be taken for the last one.
    (void)RemoveFile(name);
    if (!failing_) state_log.Warn("no last good version is kept: {}", FromAbsl(status.message()));
  }
  failing_ = !status.ok();
}

void LastGood::Remove(const std::string& path) {
  Submit([this, path] { (void)RemoveFile(NameOf(path)); });
}

void LastGood::RetainOnly(const std::string& folder, std::vector<std::string> paths) {
  Submit([this, folder = AbsolutePath(folder), paths = std::move(paths)] {
    std::set<std::string> kept;
    for (const std::string& path : paths) kept.insert(NameOf(path));
    const absl::StatusOr<std::vector<std::string>> names = ListFolder(folder_);
    if (!names.ok()) return;
    for (const std::string& listed : *names) {
      const std::string name = StrCat(folder_, "/", listed);
      if (!name.ends_with(kSuffix) || kept.contains(name)) continue;
      const std::optional<GoodFile> file = Read(name);
      if (!file || LiesIn(file->path, folder)) (void)RemoveFile(name);
    }
  });
}

void LastGood::Submit(std::function<void()> task) {
  if (read_only()) return;
  {
    std::lock_guard lock(mutex_);
    ++waiting_;
  }
  writer_.Submit(Urgency::kPatient, [this, task = std::move(task)] {
    task();
    std::lock_guard lock(mutex_);
    if (--waiting_ == 0) idle_.notify_all();
  });
}

void LastGood::Flush() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return waiting_ == 0; });
}

}  // namespace fairlead::source
