#ifndef FAIRLEAD_DEBUG_INSPECTOR_H_
#define FAIRLEAD_DEBUG_INSPECTOR_H_

#include "debug/pages.h"
#include "envoy/service/status/v3/csds.pb.h"
#include "push/stream/inspection.h"

// Introspection over gRPC: istio's debug types on xDS streams, and the client status discovery service.
// Thread-safe; the sources must outlive it.
namespace fairlead::debug {

// "istio.io/debug" gives the page that the one name stands for (see pages.h), "istio.io/connections" that
// page, "istio.io/debug/syncz" a ClientConfig for each connection, "istio.io/debug/config_dump" the dump of
// the proxy that is named. Source: Istio's DebugGen and StatusGen.
absl::StatusOr<std::vector<xds::PlainResource>> Inspect(const Sources& sources,
                                                        const push::Inspection& inspection);

// Answers a client status request; `peer` is the caller's address, or its identity where it has one.
absl::StatusOr<envoy::service::status::v3::ClientStatusResponse> ClientStatus(
    const Sources& sources, const push::StreamPeer& peer,
    const envoy::service::status::v3::ClientStatusRequest& request);

}  // namespace fairlead::debug

#endif  // FAIRLEAD_DEBUG_INSPECTOR_H_
