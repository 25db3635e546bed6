#include "app/push_options.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "mesh/view/proxy_scope.h"

namespace fairlead::app {
namespace {

void SetLimits(const Environment& environment, push::PusherOptions* out) {
  out->limits.names = static_cast<size_t>(environment.max_names);
  out->limits.name_bytes = static_cast<size_t>(environment.max_name_bytes);
  out->node_limits.bytes = static_cast<size_t>(environment.node_bytes);
  out->node_limits.values = static_cast<size_t>(environment.node_values);
  out->node_limits.text = static_cast<size_t>(environment.node_text);
  out->node_limits.entries = static_cast<size_t>(environment.node_entries);
  out->unproven.memory = static_cast<size_t>(environment.unproven_memory);
}

}  // namespace

push::PusherOptions MakePushOptions(const Environment& environment) {
  push::PusherOptions options;
  const int throttle = environment.push_throttle;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  if (throttle > 0) options.threads = std::min(options.threads, static_cast<size_t>(throttle));
  options.send_timeout = std::chrono::duration_cast<Clock::duration>(environment.send_timeout);
  options.shadow = environment.shadow;
  options.scope = mesh::ComputeProxyScope;
  options.authorizer =
      std::make_shared<push::NodeAuthorizer>(environment.plaintext_identity, environment.check_identity);
  options.max_streams_per_second = environment.max_requests_per_second;
  SetLimits(environment, &options);
  return options;
}

}  // namespace fairlead::app
