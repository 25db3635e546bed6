#ifndef FAIRLEAD_SOURCE_PLATFORM_PLATFORM_SOURCE_H_
#define FAIRLEAD_SOURCE_PLATFORM_PLATFORM_SOURCE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "source/platform/platform_view.h"
#include "source/platform/task_loop.h"
#include "source/source.h"

namespace fairlead::source {

// Asks a platform and keeps a view of it up to date. All of it is called on the source's thread, and may do
// nothing that blocks.
class PlatformFollower {
 public:
  virtual ~PlatformFollower() = default;
  // Asks from now on. Both outlive it.
  virtual void Begin(TaskLoop* loop, PlatformView* view) = 0;
  // No task of its own is posted after that.
  virtual void End() = 0;
  // What the first complete view waits for, a text each.
  virtual std::vector<std::string> Awaited() const = 0;
};

class SourceMetrics;

// The objects of a platform other than Kubernetes. It has synced with the first complete view of the
// platform, or, where the platform does not answer, with the view that an earlier process kept. What the
// platform once said stays in effect while it does not answer. What one turn of the loop brings takes effect
// together.
class PlatformSource : public Source {
 public:
  struct Options {
    std::string name;                           // "consul://10.0.0.1:8500", for people and metrics
    std::string kept_file = {};                 // where the last view is kept; "": it ends with the process
    std::chrono::milliseconds patience{5'000};  // from the start until a kept view counts
    std::chrono::milliseconds keep_after{10'000};  // a changed view is written so long after the change
  };
  PlatformSource(Options options, std::unique_ptr<PlatformFollower> follower);
  ~PlatformSource() override;

  absl::Status Start(Sink* sink) override;
  void Stop() override;
  std::string Name() const override { return options_.name; }
  std::string Amount() const override;
  std::vector<std::string> Awaited() const override;

 private:
  void Run();
  void UseKept();
  void Flush();
  void Tell();
  void NoteTrouble();
  void Keep();
  void Write();

  const Options options_;
  TaskLoop loop_;  // the follower drops its tasks when it goes
  const std::unique_ptr<PlatformFollower> follower_;
  const std::unique_ptr<SourceMetrics> metrics_;
  Sink* sink_ = nullptr;
  std::thread thread_;
  std::unique_ptr<Executor> writer_;  // null where nothing is kept
  // From here on of the source's thread alone.
  PlatformView view_;
  bool synced_ = false, keeping_ = false;
  uint64_t told_revision_ = 0, kept_revision_ = 0;
  std::string trouble_;  // as last said

  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::string> awaited_;
  size_t objects_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_PLATFORM_SOURCE_H_
