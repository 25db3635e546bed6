#ifndef FAIRLEAD_SOURCE_CLUSTER_REMOTE_FEED_H_
#define FAIRLEAD_SOURCE_CLUSTER_REMOTE_FEED_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config/diagnostic.h"
#include "config/object.h"
#include "source/source.h"

namespace fairlead::source {

// What one connection to another cluster brings. It holds objects back until it is opened: a cluster appears
// whole, and another connection to the same cluster takes the place of an earlier one without a gap.
class RemoteFeed : public Sink {
 public:
  using Objects = std::map<config::ObjectKey, config::ConfigPtr>;
  struct Target {
    std::mutex* mutex;              // guards every feed of the target, and `sink`
    Sink* sink;                     // may be null until a feed is opened
    std::function<void()> on_news;  // called without the mutex: it has synced, or has other diagnostics
  };

  // `kubeconfig`: what it was made of. What `target` points to must outlive this.
  RemoteFeed(const Target* target, std::string cluster, std::string kubeconfig);
  ~RemoteFeed() override;  // stops the source

  // Starts a source that tells this feed. Without the mutex.
  absl::Status Start(std::unique_ptr<Source> source);
  void Stop();  // likewise

  void OnChanges(std::vector<config::ObjectChange> changes) override;
  void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) override;
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override;
  void Synced(config::Kind /*kind*/) override {}
  void OnSynced() override;

  // With the mutex held, all that follows.
  // From now on what changes reaches the target's sink, beginning with what differs from `before`; null: from
  // nothing. That one is closed.
  void Open(RemoteFeed* before);
  // From now on nothing does; its objects are gone from the sink.
  void Withdraw();
  bool synced() const { return synced_; }
  bool open() const { return open_; }
  const std::string& kubeconfig() const { return kubeconfig_; }
  const std::vector<config::Diagnostic>& diagnostics() const { return diagnostics_; }
  std::vector<std::string> Awaited() const;
  std::chrono::steady_clock::time_point begun() const { return begun_; }

 private:
  const Target* const target_;
  const std::string cluster_, kubeconfig_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  Objects objects_;
  std::vector<config::Diagnostic> diagnostics_;
  bool open_ = false, synced_ = false;
  std::unique_ptr<Source> source_;
};

// What leads from the one set of objects to the other. Objects that say the same are no change.
std::vector<config::ObjectChange> DifferenceOf(const RemoteFeed::Objects& before,
                                               const RemoteFeed::Objects& now);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CLUSTER_REMOTE_FEED_H_
