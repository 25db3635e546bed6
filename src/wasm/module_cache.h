#ifndef FAIRLEAD_WASM_MODULE_CACHE_H_
#define FAIRLEAD_WASM_MODULE_CACHE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "wasm/download.h"
#include "wasm/image_reference.h"

namespace fairlead::wasm {

// Whether what was fetched once counts when a plugin changes. Source: WasmPlugin's imagePullPolicy.
enum class PullPolicy {
  kUnspecified,  // as kIfNotPresent, but for an image of the tag latest, which is as kAlways
  kIfNotPresent,
  kAlways,  // asked for again with each new version of the plugin
};

// A module that a plugin wants.
struct ModuleOrder {
  std::string url;             // http, https or oci
  std::string sha256 = {};     // of the module; of an image, its digest. "": any
  std::string plugin;          // name of the extension configuration
  std::string plugin_version;  // of the plugin's object
  PullPolicy policy = PullPolicy::kUnspecified;
  std::optional<std::string> pull_secret = {};  // a docker config.json
  std::chrono::milliseconds timeout{5000};      // for all of it
};

// Modules as files, fetched when they are first wanted. Modules are found by origin and checksum. A module
// without a use for long is removed. If all modules take too much, the least recently used ones are removed.
// Two that want one URL at once share one download. Thread-safe.
class ModuleCache {
 public:
  struct Options {
    std::string folder;  // made where it is missing; files of modules that lie there for too long go
    std::chrono::milliseconds expiry = std::chrono::hours(24);         // WASM_MODULE_EXPIRY
    std::chrono::milliseconds purge_interval = std::chrono::hours(1);  // WASM_PURGE_INTERVAL
    uint64_t most_bytes = uint64_t{1} << 30;                           // of all files
    DownloadOptions download;
    std::function<Clock::time_point()> now = Clock::now;
  };
  explicit ModuleCache(Options options);
  ~ModuleCache();  // as Stop()
  ModuleCache(const ModuleCache&) = delete;
  ModuleCache& operator=(const ModuleCache&) = delete;

  // Purges from time to time, on a thread of its own.
  void Start();
  // Breaks downloads off; waits for the thread.
  void Stop();
  // The module's file. Blocks; the error says where, what and why.
  absl::StatusOr<std::string> Get(const ModuleOrder& order);
  // Removes what nobody has wanted for too long.
  void Purge();
  size_t size() const;  // modules

 private:
  struct Key {
    std::string source;    // URL, of an image without tag and digest
    std::string checksum;  // of the module, or the image's digest
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    std::string path;
    uint64_t bytes = 0;
    Clock::time_point wanted;  // the last time
    std::set<std::string> urls;
  };
  // The last result of a URL, and the versions of the plugins that requested it.
  struct Known {
    std::string checksum;
    std::map<std::string, std::string> versions;
  };
  struct Place;    // of an order: its URL, read
  struct Fetched;  // a module, or that its checksum is one that is there

  static absl::StatusOr<Place> Read(const ModuleOrder& order);
  // REQUIRES, of all: mutex_ held.
  std::string ExpectedChecksum(const ModuleOrder& order, const Place& place);
  Entry* Find(const Key& key);
  void Note(const ModuleOrder& order, const Place& place, const std::string& checksum, Entry* entry);
  void Remove(std::map<Key, Entry>::iterator entry);
  void MakeRoom(uint64_t bytes);

  absl::StatusOr<std::string> GetAlone(const ModuleOrder& order, const Place& place);
  absl::StatusOr<Fetched> Fetch(const ModuleOrder& order, const Place& place, const std::string& expected);
  absl::StatusOr<Fetched> FetchImage(const ModuleOrder& order, const Place& place, const Download& download,
                                     const std::string& expected);
  absl::StatusOr<std::string> Add(const ModuleOrder& order, const Place& place, const Fetched& fetched);
  std::string PathOf(const Key& key) const;
  void RemoveLeftovers() const;

  const Options options_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Entry> modules_;        // guarded by mutex_
  std::map<std::string, Known> known_;  // by URL; guarded by mutex_
  std::set<std::string> under_way_;     // URLs; guarded by mutex_
  uint64_t bytes_ = 0;                  // of all modules; guarded by mutex_
  std::thread thread_;
};

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_MODULE_CACHE_H_
