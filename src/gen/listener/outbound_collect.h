#ifndef FAIRLEAD_GEN_LISTENER_OUTBOUND_COLLECT_H_
#define FAIRLEAD_GEN_LISTENER_OUTBOUND_COLLECT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "gen/listener/outbound.h"
#include "gen/listener/reserved_ports.h"
#include "mesh/view/view.h"
#include "model/endpoint.h"
#include "model/service_addresses.h"

namespace fairlead::gen::listener {

// The outbound listeners of a sidecar: one for each port and address of its services, sorted by name. The
// virtual listener and the HTTP proxy port's are not included. Merges what meets on a port. An endpoint of a
// service without an address gets no listener for itself: its traffic to itself does not go through it.
// What only HTTP depends on is not read, so that many workloads share them: a listener has the fragments `l4`
// (see L4Traits), or null where it has a connection manager, for the fragments of its workload.
// Source: Istio's buildSidecarOutboundListeners.
std::vector<OutboundInputs> CollectOutbound(mesh::View& view, const EncodedFragmentsPtr& l4);

// The listener of MeshConfig.proxyHttpPort, or of the proxy's own metadata, for clients that ask an HTTP
// proxy.
std::optional<OutboundInputs> CollectHttpProxyPort(mesh::View& view, const EncodedFragmentsPtr& fragments);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_OUTBOUND_COLLECT_H_
