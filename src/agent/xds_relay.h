#ifndef FAIRLEAD_AGENT_XDS_RELAY_H_
#define FAIRLEAD_AGENT_XDS_RELAY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/proofs.h"
#include "agent/relay_tap.h"
#include "agent/secret_store.h"
#include "agent/upstream.h"
#include "server/grpc_server.h"
#include "wasm/module_cache.h"
#include "wasm/rewrite.h"

namespace fairlead::agent {

// Stands between the proxies of this agent and the control plane: Envoy, gRPC applications, tools. Their ADS
// streams, state of the world and delta, come over a unix socket. Each goes on to
// the control plane as a stream of its own, and to another one where that ends; the proxy notices nothing of
// it. Messages pass as unchanged bytes, except for extension configurations: their Wasm modules are fetched
// first and become files (wasm::RewriteExtension). While that goes on other messages pass; a configuration
// that cannot be read is refused in the proxy's stead.
class XdsRelay {
 public:
  struct Options {
    std::string socket;
    bool for_all = false;  // users of the machine, not the agent's alone
    UpstreamOptions upstream;
    bool own_certificate = true;        // the store has one, or will; else files prove the identity
    ControlPlaneOptions control_plane;  // those files, the cluster, and roots besides the store's
    bool with_token = false;            // besides the certificate
    bool fetch_modules = true;          // else extension configurations pass, too
    wasm::ModuleCache::Options modules;
    size_t fetches_at_a_time = 4;
    std::vector<RelayTap> taps = {};  // types that the agent asks for, too, and keeps for itself
  };
  // `store` has the certificate to show and the roots to believe, "default" and "ROOTCA"; streams wait for
  // both where it goes over TLS with the agent's own certificate. It must outlive the relay.
  XdsRelay(Options options, SecretStore* store);
  ~XdsRelay();  // as Stop()
  // Makes the socket's folder; Unavailable where it cannot listen.
  absl::Status Start();
  void Stop();
  // Why the control plane does not answer; "" where it does, or was not asked yet. Thread-safe.
  std::string Difficulty() const;
  // Tells control planes whether the workload is healthy, those to come as well; `why` not. Thread-safe.
  void ReportHealth(const absl::Status& why);

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
