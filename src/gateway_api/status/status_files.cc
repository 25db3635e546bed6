#include "gateway_api/status/status_files.h"

#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "base/thread.h"
#include "gateway_api/status/status_times.h"

namespace fairlead::gateway_api {
namespace {

LogScope status_log("status");

constexpr std::chrono::seconds kAtMostEvery{1};
constexpr std::string_view kSuffix = ".json";

std::string FileName(const StatusKey& key) {
  return StrCat(key.kind, ".", key.ns.str(), key.ns.empty() ? "" : ".", key.name.str(), kSuffix);
}

// Of what ToJson lists.
std::string FileName(const nlohmann::ordered_json& object) {
  const auto text = [&object](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? std::string(*found) : std::string();
  };
  const std::string ns = text("namespace");
  return StrCat(text("kind"), ".", ns, ns.empty() ? "" : ".", text("name"), kSuffix);
}

// RFC 3339, in UTC.
std::string Now() {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

metrics::Counter& Writes() {
  static metrics::Counter& counter =
      metrics::GetCounter("fairlead_status_writes_total", "Statuses written to files of --statusDir.");
  return counter;
}
metrics::Counter& Failures() {
  static metrics::Counter& counter = metrics::GetCounter(
      "fairlead_status_write_errors_total", "Statuses that could not be written to files of --statusDir.");
  return counter;
}

}  // namespace

StatusFiles::StatusFiles(std::string folder, Source statuses)
    : folder_(std::move(folder)), statuses_(std::move(statuses)) {}

StatusFiles::~StatusFiles() { Stop(); }

absl::Status StatusFiles::Start() {
  if (absl::Status status = CreateFolders(folder_); !status.ok())
    return absl::UnavailableError(status.message());
  const auto names = ListFolder(folder_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (std::string_view(name).ends_with(kSuffix)) ReadExisting(name);
  }
  auto thread = StartThread([this] { Run(); });
  if (thread.ok()) thread_ = std::move(*thread);
  return thread.status();
}

// Only what looks like a status of ours: other files are not touched.
void StatusFiles::ReadExisting(const std::string& name) {
  std::ifstream file(StrCat(folder_, "/", name), std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto object = ParseOrderedJson(text);
  if (object && object->is_object() && object->contains("status") && FileName(*object) == name)
    written_[name] = *object;
}

void StatusFiles::OnPublished() {
  std::lock_guard lock(mutex_);
  published_ = true;
  wake_.notify_one();
}

void StatusFiles::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void StatusFiles::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait(lock, [this] { return stopping_ || published_; });
    if (stopping_) return;
    published_ = false;
    lock.unlock();
    WriteChanges();
    lock.lock();
    if (whole_) published_ = true;  // and tried again
    wake_.wait_for(lock, kAtMostEvery, [this] { return stopping_; });
  }
}

void StatusFiles::WriteChanges() {
  Statuses now = statuses_();
  const Statuses before = std::exchange(whole_, false) ? Statuses() : seen_;
  if (before.empty()) RemoveOthers(now);
  now.ForEachDifference(before, [this](const StatusKey& key, const auto* /*was*/, const auto* is) {
    if (is != nullptr) return Write(FileName(key), ToJson(**is));
    Remove(FileName(key));
  });
  seen_ = std::move(now);
}

void StatusFiles::Write(const std::string& name, Json object) {
  const auto before = written_.find(name);
  SetTransitionTimes(before == written_.end() ? Json() : before->second, Now(), &object);
  if (before != written_.end() && before->second == object) return;
  const absl::Status status = WriteFileAtomically(StrCat(folder_, "/", name), JsonText(object, 2) + "\n");
  if (status.ok()) {
    written_[name] = std::move(object);
    Writes().Add();
    return;
  }
  whole_ = true;
  Failures().Add();
  status_log.Error("{}", FromAbsl(status.message()));
}

void StatusFiles::Remove(const std::string& name) {
  if (!written_.contains(name)) return;
  const absl::Status status = RemoveFile(StrCat(folder_, "/", name));
  if (status.ok()) {
    written_.erase(name);
    return;
  }
  whole_ = true;
  status_log.Error("{}", FromAbsl(status.message()));
}

void StatusFiles::RemoveOthers(const Statuses& wanted) {
  std::set<std::string> names;
  for (const auto& [key, status] : wanted) names.insert(FileName(key));
  std::vector<std::string> others;
  for (const auto& [name, object] : written_) {
    if (!names.contains(name)) others.push_back(name);
  }
  for (const std::string& name : others) Remove(name);
}

}  // namespace fairlead::gateway_api
