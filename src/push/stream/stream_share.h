#ifndef FAIRLEAD_PUSH_STREAM_STREAM_SHARE_H_
#define FAIRLEAD_PUSH_STREAM_STREAM_SHARE_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "model/proxy.h"
#include "push/stream/unproven_peers.h"
#include "xds/held.h"

namespace fairlead::push {

// What one stream takes of the memory and the threads that peers without identity have together. Nothing is
// counted for a peer that has proven who it is. Thread-safe but for Holds and SetProxy.
class StreamShare {
 public:
  // Null: nothing is counted.
  explicit StreamShare(std::unique_ptr<UnprovenPeers::Account> account) : account_(std::move(account)) {}

  // Whether the loop, which has others to serve, is to leave a request to a thread.
  bool IsLarge(size_t request) const;
  // A request is to wait for a thread. False where too much waits already.
  bool MayWait(size_t request);
  void NoteTaken();

  void SetProxy(const model::Proxy& proxy);
  // Beside the proxy. False: it is too much, the stream is to end.
  bool Holds(xds::Held held);

  // Of the calling thread, in seconds.
  static double ThreadTime();
  // Notes the thread's time since `start`, which becomes now. True where others are to go first.
  bool GivesWay(double* start);
  // Whether others go first.
  bool IsLate() const;

 private:
  const std::unique_ptr<UnprovenPeers::Account> account_;
  size_t own_ = 0;                  // bytes of the proxy
  std::atomic<double> spent_{0};    // seconds of threads
  std::atomic<bool> large_{false};  // the request that waits is
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_STREAM_SHARE_H_
