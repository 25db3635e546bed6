#ifndef FAIRLEAD_TRANSPORTS_REST_H_
#define FAIRLEAD_TRANSPORTS_REST_H_

#include "debug/pages.h"
#include "push/pusher.h"
#include "rpc/http_server.h"

namespace fairlead::transports {

// xDS over REST: POST of a DiscoveryRequest in JSON to /v3/discovery:clusters and its like (xds/services.h)
// gives a DiscoveryResponse in JSON. A request that names the version which there is waits for another one:
// for as long as its client says that it waits (x-envoy-expected-rq-timeout-ms), at most 30 s, and is then
// answered 304. Of the server's `requests` at a time an eighth is kept from polls, for pages:
// beyond three quarters a poll is answered within a second, beyond seven eighths it is refused (503,
// Retry-After). Errors are google.rpc.Status in JSON. /v3/discovery:client_status is client status discovery.
// The pusher and the sources must outlive the server. Source:
// envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol, "REST-JSON polling subscriptions"
void AddRestPaths(push::Pusher* pusher, const debug::Sources* sources, size_t requests,
                  rpc::HttpServer* server);

}  // namespace fairlead::transports

#endif  // FAIRLEAD_TRANSPORTS_REST_H_
