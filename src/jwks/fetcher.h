#ifndef FAIRLEAD_JWKS_FETCHER_H_
#define FAIRLEAD_JWKS_FETCHER_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "jwks/downloads.h"
#include "jwks/schedule.h"
#include "mesh/index/snapshot.h"

namespace fairlead::jwks {

// Fetches the key sets of a mesh's RequestAuthentications and keeps them fresh. Its own thread exists once a
// key set is wanted. Nobody waits for key servers, whatever they do. Metrics:
// pilot_jwks_resolver_network_fetch_success_total and …_fail_total, as istiod's.
class Fetcher {
 public:
  struct Options {
    Schedule::Options schedule;
    Downloads::Options downloads;
    // How long Settled waits for the first attempts.
    Clock::duration settle = std::chrono::seconds(5);
  };
  // All sets that are known, each time that they change. Called on the fetcher's thread.
  using Publish = std::function<void(model::KeySetsPtr)>;
  // Called on the fetcher's thread, once: see Settled.
  using OnSettled = std::function<void()>;

  Fetcher(Options options, Publish publish, OnSettled on_settled);
  ~Fetcher();  // as Stop()

  // The key sets that the mesh wants now. Returns at once. Thread-safe.
  void Want(const mesh::MeshSnapshot& snapshot);
  // Whether the first mesh's key sets were tried, or took too long. Before that, a starting server would send
  // proxies no keys, although they may have its predecessor's. Thread-safe.
  bool Settled() const { return settled_; }
  void Stop();

 private:
  void Run();
  std::optional<Wanted> TakeWanted();
  void Start(const Schedule::Order& order);
  void GetKeys(const model::KeySource& source, const std::string& uri, Clock::duration timeout);
  void Finish(const model::KeySource& source, absl::StatusOr<std::string> keys);
  void Report(const model::KeySource& source, const absl::Status& status);
  void CheckSettled();
  Clock::duration UntilNext() const;

  const Options options_;
  const Publish publish_;
  const OnSettled on_settled_;

  std::mutex mutex_;
  std::shared_ptr<const mesh::PolicyIndex> last_;            // what was looked at last
  std::shared_ptr<const mesh::ServiceIndex> last_services_;  // the same, where they decide who fetches
  std::optional<Wanted> wanted_;                             // not taken up yet
  std::thread thread_;                                       // of the first that wants something
  bool stopping_ = false;
  std::atomic<bool> settled_{false};

  // State of the thread.
  Schedule schedule_;
  Downloads downloads_;
  std::map<model::KeySource, std::string> problems_;  // as they were last logged
  Clock::time_point started_{};
};

}  // namespace fairlead::jwks

#endif  // FAIRLEAD_JWKS_FETCHER_H_
