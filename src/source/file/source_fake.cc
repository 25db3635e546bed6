#include "source/file/source_fake.h"

#include <stdlib.h>

#include <fstream>
#include <set>
#include <utility>

#include "base/strings.h"

namespace fairlead::source {
namespace {

constexpr std::chrono::seconds kPatience{10};

std::string VersionOf(const config::ConfigObject& object) {
  return std::string(LabelOr(object.meta().labels, "v"));
}

}  // namespace

TestFolder::TestFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "fairlead-XXXXXX").string();
  root_ = mkdtemp(name.data());
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

void TestFolder::Write(std::string_view name, std::string_view text) const {
  std::filesystem::create_directories((root_ / name).parent_path());
  std::ofstream(root_ / name, std::ios::binary) << text;
}

void TestFolder::Replace(std::string_view name, std::string_view text) const {
  const std::string beside = StrCat(name, ".new");
  Write(beside, text);
  Rename(beside, name);
}

void TestFolder::Link(std::string_view target, std::string_view name) const {
  std::filesystem::create_symlink(target, root_ / name);
}

std::string NamespaceText(std::string_view name, std::string_view v) {
  return StrCat("---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: ", name, "\n  labels: {v: \"", v,
                "\"}\n");
}

void RecordingSink::OnChanges(std::vector<config::ObjectChange> changes) {
  std::lock_guard lock(mutex_);
  for (const config::ObjectChange& change : changes) {
    if (change.object == nullptr) {
      objects_.erase(change.key.name.str());
    } else {
      objects_[change.key.name.str()] = change.object;
    }
    history_[change.key.name.str()].push_back(change.object == nullptr ? "-" : VersionOf(*change.object));
  }
  batches_.push_back({std::move(changes), std::chrono::steady_clock::now()});
  changed_.notify_all();
}

void RecordingSink::OnDiagnostics(std::vector<config::Diagnostic> diagnostics) {
  std::lock_guard lock(mutex_);
  diagnostics_.clear();
  for (const config::Diagnostic& diagnostic : diagnostics) diagnostics_.push_back(ToText(diagnostic));
  ever_said_.insert(diagnostics_.begin(), diagnostics_.end());
  changed_.notify_all();
}

std::set<std::string> RecordingSink::EverSaid() {
  std::lock_guard lock(mutex_);
  return ever_said_;
}

void RecordingSink::Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) {
  std::vector<config::ObjectChange> changes;
  std::set<std::string> listed;
  for (config::ConfigPtr& object : objects) {
    listed.insert(object->name().str());
    changes.push_back({config::KeyOf(*object), std::move(object)});
  }
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, object] : objects_) {
      if (object->kind() == kind && !listed.contains(name))
        changes.push_back({config::KeyOf(*object), nullptr});
    }
  }
  OnChanges(std::move(changes));
}

void RecordingSink::Synced(config::Kind /*kind*/) {}

void RecordingSink::OnSynced() {
  std::lock_guard lock(mutex_);
  ++syncs_;
  changed_.notify_all();
}

bool RecordingSink::WaitFor(const std::function<bool()>& holds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, holds);
}

std::string RecordingSink::ObjectsLocked() const {
  std::string text;
  for (const auto& [name, object] : objects_)
    StrAppend(&text, text.empty() ? "" : " ", name, "=", VersionOf(*object));
  return text;
}

bool RecordingSink::WaitForObjects(std::string_view expected) {
  return WaitFor([&] { return ObjectsLocked() == expected; });
}

bool RecordingSink::WaitForSync() {
  return WaitFor([&] { return syncs_ == 1; });
}

bool RecordingSink::WaitForDiagnostic(std::string_view text) {
  return WaitFor([&] {
    if (text.empty()) return diagnostics_.empty();
    return std::any_of(diagnostics_.begin(), diagnostics_.end(),
                       [&](const std::string& d) { return d.find(text) != std::string::npos; });
  });
}

std::string RecordingSink::Objects() {
  std::lock_guard lock(mutex_);
  return ObjectsLocked();
}

std::vector<std::string> RecordingSink::Diagnostics() {
  std::lock_guard lock(mutex_);
  return diagnostics_;
}

size_t RecordingSink::batches() {
  std::lock_guard lock(mutex_);
  return batches_.size();
}

RecordingSink::Batch RecordingSink::last_batch() {
  std::lock_guard lock(mutex_);
  return batches_.empty() ? Batch{} : batches_.back();
}

config::ConfigPtr RecordingSink::Find(std::string_view name) {
  std::lock_guard lock(mutex_);
  const auto it = objects_.find(std::string(name));
  return it == objects_.end() ? nullptr : it->second;
}

std::vector<config::ConfigPtr> RecordingSink::All() {
  std::lock_guard lock(mutex_);
  std::vector<config::ConfigPtr> all;
  for (const auto& [name, object] : objects_) all.push_back(object);
  return all;
}

std::vector<std::string> RecordingSink::History(std::string_view name) {
  std::lock_guard lock(mutex_);
  return history_[std::string(name)];
}

}  // namespace fairlead::source
