#ifndef FAIRLEAD_SERVING_REST_H_
#define FAIRLEAD_SERVING_REST_H_

#include "debug/pages.h"
#include "push/stream/pusher.h"
#include "server/http_server.h"

namespace fairlead::serving {

// xDS over REST: POST of a DiscoveryRequest in JSON to /v3/discovery:clusters and its like (xds/services.h)
// gives a DiscoveryResponse in JSON. A request with the current version waits for another one, for its
// client's own time (x-envoy-expected-rq-timeout-ms), at most 30 s. Then the answer is 304. An eighth of the
// server's `requests` is kept from polls, for pages. Beyond three quarters a poll gets its answer within a
// second; beyond seven eighths it is refused (503, Retry-After). Errors are google.rpc.Status in JSON.
// /v3/discovery:client_status is client status discovery. The pusher and the sources must outlive the server.
// Source: envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol, "REST-JSON polling subscriptions"
void AddRestPaths(push::Pusher* pusher, const debug::Sources* sources, size_t requests,
                  server::HttpServer* server);

}  // namespace fairlead::serving

#endif  // FAIRLEAD_SERVING_REST_H_
