#ifndef FAIRLEAD_SOURCE_ETCD_ETCD_FOLLOWER_H_
#define FAIRLEAD_SOURCE_ETCD_ETCD_FOLLOWER_H_

#include <string>
#include <vector>

#include "source/etcd/etcd_client.h"
#include "source/etcd/etcd_options.h"
#include "source/platform/asking_thread.h"
#include "source/platform/platform_source.h"
#include "source/platform/retry_pause.h"

namespace fairlead::source {

// Follows the keys below a prefix: lists them as of one revision, then watches from the next one on. Where
// that is compacted, it lists them again. A thread of its own asks; what it hears it hands to the source's
// thread, one piece at a time. A part of the view is a key.
class EtcdFollower : public PlatformFollower {
 public:
  explicit EtcdFollower(EtcdOptions options);
  ~EtcdFollower() override { End(); }

  void Begin(TaskLoop* loop, PlatformView* view) override;
  void End() override;
  std::vector<std::string> Awaited() const override;

 private:
  // Of the thread that asks.
  void Run();
  absl::Status List(int64_t* revision);
  absl::Status Watch(int64_t* revision);
  // Of the source's thread.
  void TakeList(const EtcdRange& range);
  void TakeNews(const EtcdNews& news);
  void Put(const EtcdKey& key);

  const EtcdOptions options_;
  const std::string origin_;  // "etcd://h:2379", before a key
  EtcdClient client_;
  RetryPause pause_;
  PlatformView* view_ = nullptr;
  std::string trouble_;  // of the source's thread
  AskingThread thread_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_ETCD_FOLLOWER_H_
