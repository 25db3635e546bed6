#ifndef FAIRLEAD_AGENT_XDS_RELAY_H_
#define FAIRLEAD_AGENT_XDS_RELAY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/relay_tap.h"
#include "agent/secret_store.h"
#include "agent/upstream.h"
#include "server/grpc_server.h"
#include "wasm/module_cache.h"
#include "wasm/rewrite.h"

namespace fairlead::agent {

// Stands between the proxy of this agent and the control plane. The proxy's ADS streams, state of the world
// and delta, come over a unix socket for the agent's user alone. Each goes on to the control plane as a
// stream of its own. Messages pass as unchanged bytes, except for extension configurations: their Wasm
// modules are fetched first and become files (wasm::RewriteExtension). While that goes on other messages
// pass; a configuration that cannot be read is refused in the proxy's stead. A stream that ends at one end
// ends at the other.
class XdsRelay {
 public:
  struct Options {
    std::string socket;
    UpstreamOptions upstream;
    wasm::ModuleCache::Options modules;
    size_t fetches_at_a_time = 4;
    std::vector<RelayTap> taps = {};  // types that the agent asks for, too, and keeps for itself
  };
  // `store` has the certificate to show and the roots to believe, "default" and "ROOTCA"; streams wait for
  // both where it goes over TLS. It must outlive the relay.
  XdsRelay(Options options, SecretStore* store);
  ~XdsRelay();  // as Stop()
  // Makes the socket's folder; Unavailable where it cannot listen.
  absl::Status Start();
  void Stop();
  // Why the control plane does not answer; "" where it does, or was not asked yet. Thread-safe.
  std::string Difficulty() const;

 private:
  class Streams;
  const Options options_;
  wasm::ModuleCache modules_;
  wasm::Rewriter rewriter_;
  Upstream upstream_;
  const std::shared_ptr<Streams> streams_;
  std::unique_ptr<server::GrpcServer> server_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_XDS_RELAY_H_
