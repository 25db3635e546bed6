#ifndef FAIRLEAD_GEN_LISTENER_OUTBOUND_H_
#define FAIRLEAD_GEN_LISTENER_OUTBOUND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gen/generator.h"
#include "gen/listener/chain.h"
#include "gen/listener/encoded_fragments.h"

namespace envoy::config::listener::v3 {
class FilterChain;
class Listener;
}  // namespace envoy::config::listener::v3

namespace fairlead::gen::listener {

// One listener for traffic that leaves the workload: a port of all or of one address, or of the sidecar's
// HTTP proxy.
struct OutboundInputs {
  EncodedFragmentsPtr fragments;   // null: see CollectOutbound
  std::vector<std::string> binds;  // the first names the listener; a "unix://" path where the port is 0
  uint32_t port = 0;
  bool bind_to_port = false;  // false: only reached by the virtual listener's hand-over
  std::vector<OutboundChain> chains;

  std::string Name() const;
  friend bool operator==(const OutboundInputs&, const OutboundInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const OutboundInputs& i) {
    return H::combine(std::move(h), i.fragments.get(), i.binds, i.port, i.bind_to_port, i.chains);
  }
};

inline OriginList OriginsOf(const OutboundInputs& inputs) { return OriginsOf(inputs.fragments); }

// Pure. Source: Istio's buildListenerFromEntry.
void BuildOutboundListener(const OutboundInputs& inputs, envoy::config::listener::v3::Listener* out);

// "virtualOutbound", the listener that outgoing traffic is redirected to. Pure. Source: Istio's
// buildVirtualOutboundListener.
void BuildVirtualOutboundListener(const EncodedFragments& fragments,
                                  envoy::config::listener::v3::Listener* out);

// Where traffic to unknown destinations goes: appends the filters of the chain that matches nothing else.
void AddCatchAllFilters(const EncodedFragments& fragments, envoy::config::listener::v3::FilterChain* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_OUTBOUND_H_
