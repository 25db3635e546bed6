#ifndef FAIRLEAD_GEN_LISTENER_ENCODED_FRAGMENTS_H_
#define FAIRLEAD_GEN_LISTENER_ENCODED_FRAGMENTS_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/base/call_once.h"
#include "absl/container/flat_hash_map.h"
#include "gen/listener/connection_manager.h"
#include "gen/listener/tls_context.h"
#include "gen/listener/traits.h"
#include "gen/resource/origins.h"

namespace fairlead::gen::listener {

// The traits of proxies, with the parts that many of their listeners embed, encoded once. Immutable. Encoded
// messages may be appended to the encoding of another of the same type: fields are merged, repeated ones in
// order.
class EncodedFragments {
 public:
  explicit EncodedFragments(ProxyTraits traits);

  const ProxyTraits& traits() const { return traits_; }
  // An HttpConnectionManager without stat_prefix and routes.
  std::string ConnectionManager(const HttpOptions& options) const;
  // A TcpProxy that holds its access logs only.
  const std::string& TcpAccessLogs(TrafficClass traffic) const { return Of(traffic).tcp_logs; }
  // A Listener that holds its access logs only.
  const std::string& ListenerAccessLogs(TrafficClass traffic) const { return Of(traffic).listener_logs; }
  // A FilterChain that holds the statistics filters only.
  const std::string& StatsFilters(TrafficClass traffic) const { return Of(traffic).stats; }
  // A FilterChain that holds the filters of CUSTOM authorization for connections only; of AUDIT, DENY and
  // ALLOW. None where the traffic is outbound.
  const std::string& CustomAccess(TrafficClass traffic) const { return Of(traffic).custom_access; }
  const std::string& LocalAccess(TrafficClass traffic) const { return Of(traffic).local_access; }
  // A TransportSocket.
  const std::string& MutualTls(Inner inner) const { return inner == Inner::kHttp ? http_tls_ : tcp_tls_; }

 private:
  struct Parts {
    std::string connection_manager, tcp_logs, listener_logs, stats, custom_access, local_access;
    std::string
        http2_connection_manager;  // for a service that speaks HTTP/2; "" outbound, where it is no different
  };
  // Encoded when it is first asked for: with a workload's policies nothing is outbound.
  struct Lazy {
    absl::once_flag once;
    Parts parts;
  };
  const Parts& Of(TrafficClass traffic) const;
  Parts Encode(TrafficClass traffic) const;

  ProxyTraits traits_;
  const bool plugins_by_port_;
  mutable Lazy outbound_, inbound_;
  std::string http_tls_, tcp_tls_;
};
using EncodedFragmentsPtr = std::shared_ptr<const EncodedFragments>;
// The Telemetry objects, plugins and policies in it.
OriginList OriginsOf(const EncodedFragmentsPtr& fragments);

// One value for equal traits, as long as anyone holds it: values may be compared by pointer. Thread-safe.
class FragmentPool {
 public:
  EncodedFragmentsPtr Intern(ProxyTraits traits);
  // Forgets those that nobody holds.
  void Sweep();

 private:
  std::mutex mutex_;
  absl::flat_hash_map<ProxyTraits, std::weak_ptr<const EncodedFragments>> of_traits_;
};

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_ENCODED_FRAGMENTS_H_
