#ifndef FAIRLEAD_GEN_LISTENER_PORT_CONFLICTS_H_
#define FAIRLEAD_GEN_LISTENER_PORT_CONFLICTS_H_

#include <cstdint>
#include <vector>

#include "gen/listener/chain.h"
#include "model/protocol.h"

// The result of two services on one address and port. Pure. Source: Istio's buildSidecarOutboundListener.
namespace fairlead::gen::listener {

// How a listener treats connections of a protocol. kAuto: as HTTP where the inspector finds it, else as TCP.
enum class ListenerKind : uint8_t { kHttp, kTcp, kAuto, kNone };
ListenerKind KindOf(model::Protocol protocol);

enum class Meeting : uint8_t {
  kReplace,   // the newcomer takes the listener over
  kKeep,      // the newcomer's chains are not needed: the listener serves it already, or must not change
  kMerge,     // the newcomer's chains are added where they don't conflict
  kMergeTcp,  // the same of the newcomer's TCP chains only: the listener has its HTTP chain
};

// A newcomer of protocol `incoming` at a listener that is of protocol `existing` so far. Ports of protocols
// whose server speaks first and that others share are kept: inspecting would stall them.
Meeting Meet(model::Protocol existing, model::Protocol incoming);

// Adds the chains that conflict with none that is there.
void MergeChains(std::vector<OutboundChain> incoming, std::vector<OutboundChain>* chains);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_PORT_CONFLICTS_H_
