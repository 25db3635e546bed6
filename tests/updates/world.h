#ifndef FAIRLEAD_TESTS_UPDATES_WORLD_H_
#define FAIRLEAD_TESTS_UPDATES_WORLD_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "push/publish/control_loop.h"
#include "push/stream/pusher.h"
#include "tests/updates/connected_proxy.h"

namespace fairlead::updates {

// Looks every millisecond whether it is done, for a minute: only events tell, as a busy machine may be slow.
void Await(const std::function<bool()>& done, const char* what);

// The server from its control loop to its streams, without files and network; changes are handled at once.
class World {
 public:
  // `mesh_config` is YAML over the defaults. `shadow`: see push::PusherOptions.
  World(std::string_view manifests, std::string_view mesh_config, bool shadow = false);
  ~World();

  ConnectedProxyPtr Connect(const Client& client, xds::Framing framing);
  void HangUp(const ConnectedProxyPtr& proxy) { proxy->HangUp(); }

  // Each of these is one change; it returns when that, and all that the proxies say to it, is dealt with.
  // Whether there was anything to publish.
  bool Apply(std::string_view manifests);
  bool Delete(std::string_view manifests);
  bool Set(std::string_view mesh_config, std::string_view mesh_networks);
  // Waits until nothing is under way any more.
  void AwaitQuiet();

 private:
  bool Change(std::vector<config::ObjectChange> changes);
  bool Change(const std::function<void()>& change);

  push::Pusher pusher_;
  std::atomic<size_t> publications_{0};
  push::ControlLoop loop_;
  source::Sink* sink_;
};

}  // namespace fairlead::updates

#endif  // FAIRLEAD_TESTS_UPDATES_WORLD_H_
