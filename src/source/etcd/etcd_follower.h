#ifndef FAIRLEAD_SOURCE_ETCD_ETCD_FOLLOWER_H_
#define FAIRLEAD_SOURCE_ETCD_ETCD_FOLLOWER_H_

#include <cstdint>
#include <string>

#include "source/etcd/etcd_client.h"
#include "source/etcd/etcd_options.h"
#include "source/platform/asking_follower.h"

namespace fairlead::source {

// Follows the keys below a prefix: lists them as of one revision, then watches from the next one on. Where
// that is compacted, it lists them again. A thread of its own asks; what it hears it hands to the source's
// thread, one piece at a time. A part of the view is a key.
class EtcdFollower : public AskingFollower {
 public:
  explicit EtcdFollower(EtcdOptions options);
  ~EtcdFollower() override { End(); }

 private:
  absl::Status Follow() override;
  void StopClient() override { client_.Stop(); }
  // Of the thread that asks.
  absl::Status List();
  absl::Status Watch();
  // Of the source's thread.
  void TakeList(const EtcdRange& range);
  void TakeNews(const EtcdNews& news);
  void Put(const EtcdKey& key);

  const EtcdOptions options_;
  const std::string origin_;  // "etcd://h:2379", before a key
  EtcdClient client_;
  int64_t revision_ = 0;  // of the thread that asks; 0: the keys are not known
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_ETCD_FOLLOWER_H_
