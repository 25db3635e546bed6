#ifndef FAIRLEAD_PUSH_PUSHER_H_
#define FAIRLEAD_PUSH_PUSHER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/executor.h"
#include "mesh/proxy_scope.h"
#include "push/epoch.h"
#include "push/stream.h"

namespace fairlead::push {

struct PusherOptions {
  size_t threads = 2;
  // A stream whose proxy does not take a message within this time, and a second more for each `slowest_rate`
  // bytes of it, is cut (Istio's PILOT_XDS_SEND_TIMEOUT). Zero: never.
  Clock::duration send_timeout = std::chrono::seconds(5);
  size_t slowest_rate = 256 << 10;
  // How long a stream is to be idle before its client is sent what it goes on asking for although nothing
  // refers to it any more (see xds::StreamCore::HoldsBack).
  Clock::duration time_to_let_go = std::chrono::seconds(2);
  // mesh::ComputeProxyScope, or a test's own.
  std::function<mesh::ProxyScopePtr(const mesh::MeshSnapshot&, const model::ProxyPtr&,
                                    const mesh::ProxyScopePtr& previous)>
      scope;
};

// All streams, the threads that work for them, and the newest snapshot. Thread-safe.
class Pusher {
 public:
  // A variant may have no type that `generators` lack.
  Pusher(PusherOptions options, Generators generators, GeneratorVariants variants = {});
  ~Pusher();  // as Stop()

  // The next snapshot: every stream is brought to it. To be called from one thread.
  void Publish(mesh::SnapshotPtr snapshot, const Reasons& reasons);
  // A new stream. The caller keeps it until it has called OnClosed.
  StreamPtr Open(StreamOptions options);
  StreamPtr Open(xds::Framing framing, std::string peer) {
    return Open({.framing = framing, .peer = std::move(peer)});
  }
  size_t StreamCount() const;
  // The streams at which a request, a push or a message is under way; 0: all proxies were sent what is
  // published, and all that they asked for.
  size_t BusyStreams() const;
  // The streams whose clients have said who they are, by connection name.
  std::vector<StreamReport> Report() const;
  // The newest snapshot; null before the first.
  mesh::SnapshotPtr Snapshot() const;
  // Closes all streams with Unavailable, so that their proxies go elsewhere, and ends the threads.
  void Stop();

 private:
  friend class Stream;
  EpochPtr Newest() const;
  gen::Generator& GeneratorFor(xds::TypeId type, const model::Proxy& proxy) const;
  void Forget(const StreamPtr& stream);
  void KeepHouse();
  std::vector<StreamPtr> Streams() const;

  const PusherOptions options_;
  const Generators generators_;
  const GeneratorVariants variants_;
  const uint32_t served_;

  mutable std::mutex mutex_;
  EpochPtr newest_;                         // guarded by mutex_
  std::atomic<uint64_t> newest_number_{0};  // of newest_
  absl::flat_hash_set<StreamPtr> streams_;  // guarded by mutex_
  uint64_t last_stream_ = 0;                // guarded by mutex_
  bool stopping_ = false;                   // guarded by mutex_
  std::condition_variable stop_;
  Executor executor_;
  std::thread housekeeper_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUSHER_H_
