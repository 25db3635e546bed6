#ifndef FAIRLEAD_PUSH_STREAM_CONNECTION_OBSERVER_H_
#define FAIRLEAD_PUSH_STREAM_CONNECTION_OBSERVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "model/proxy.h"

namespace fairlead::push {

// Is told of clients that come and go, and may keep a client waiting for its first answer. The calls come
// from any thread, in order for a stream, while the stream's lock is held: they must not block, nor ask the
// pusher.
class ConnectionObserver {
 public:
  // OK: the client is served. Anything else ends its stream.
  using Ready = std::function<void(const absl::Status&)>;
  virtual ~ConnectionObserver() = default;
  // The client of a stream that stays has said who it is, and may be that. True: nothing is made for it
  // before `ready` is called, once, by another thread or later. False: it need not wait, and neither
  // OnHealth nor OnDisconnected follows.
  virtual bool OnConnected(uint64_t stream, const model::ProxyPtr& proxy,
                           std::chrono::system_clock::time_point since, Ready ready) = 0;
  // What the client says of the workload behind it: istio.v1.HealthInformation.
  virtual void OnHealth(uint64_t stream, bool healthy, std::string_view message) = 0;
  virtual void OnDisconnected(uint64_t stream) = 0;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_CONNECTION_OBSERVER_H_
