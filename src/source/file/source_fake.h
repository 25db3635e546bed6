#ifndef FAIRLEAD_SOURCE_FILE_SOURCE_FAKE_H_
#define FAIRLEAD_SOURCE_FILE_SOURCE_FAKE_H_

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "source/source.h"

// For tests of sources: a folder of their own and a sink that remembers.
namespace fairlead::source {

// A new folder below the system's temporary one, removed at the end.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();

  std::string path() const { return root_.string(); }
  std::string operator/(std::string_view name) const { return (root_ / name).string(); }
  // Written in place, with the folders that it needs.
  void Write(std::string_view name, std::string_view text) const;
  // Written beside and renamed into place.
  void Replace(std::string_view name, std::string_view text) const;
  void Remove(std::string_view name) const { std::filesystem::remove_all(root_ / name); }
  void Rename(std::string_view from, std::string_view to) const {
    std::filesystem::rename(root_ / from, root_ / to);
  }
  void Link(std::string_view target,
            std::string_view name) const;  // the target as it is written into the link

 private:
  std::filesystem::path root_;
};

// A manifest of a Namespace `name` with a label `v`; several joined make several documents.
std::string NamespaceText(std::string_view name, std::string_view v);

class RecordingSink : public Sink {
 public:
  struct Batch {
    std::vector<config::ObjectChange> changes;
    std::chrono::steady_clock::time_point at;
  };

  void OnChanges(std::vector<config::ObjectChange> changes) override;
  void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) override;
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override;
  void Synced(config::Kind kind) override;
  void OnSynced() override;

  // Waits until it holds, some seconds at most; whether it did.
  bool WaitFor(const std::function<bool()>& holds);
  // Waits until the sink was told exactly these Namespaces: "a=1 b=2", name and label `v` each, sorted.
  bool WaitForObjects(std::string_view expected);
  bool WaitForSync();
  // Waits until there is a diagnostic whose text contains this; "" for none at all.
  bool WaitForDiagnostic(std::string_view text);

  std::string Objects();
  std::vector<std::string> Diagnostics();
  // Those of now and of before.
  std::set<std::string> EverSaid();
  size_t batches();
  Batch last_batch();
  config::ConfigPtr Find(std::string_view name);
  std::vector<config::ConfigPtr> All();
  // Every state of an object that the sink has ever been told: its labels `v`, "-" for gone.
  std::vector<std::string> History(std::string_view name);

 private:
  std::string ObjectsLocked() const;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, config::ConfigPtr> objects_;
  std::map<std::string, std::vector<std::string>> history_;
  std::vector<Batch> batches_;
  std::vector<std::string> diagnostics_;
  std::set<std::string> ever_said_;
  int syncs_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_SOURCE_FAKE_H_
