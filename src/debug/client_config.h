#ifndef FAIRLEAD_DEBUG_CLIENT_CONFIG_H_
#define FAIRLEAD_DEBUG_CLIENT_CONFIG_H_

#include "envoy/service/status/v3/csds.pb.h"
#include "push/stream/stream_report.h"

// A stream as the client status discovery service tells of it. Pure.
namespace fairlead::debug {

// Type by type, with a node of id and few metadata: what istioctl proxy-status asks for. Source: Istio's
// StatusGen.
envoy::service::status::v3::ClientConfig SyncStatusOf(const push::StreamReport& report);

// Resource by resource, with the node as the client described it; `contents`: with what was sent, private
// keys left out.
envoy::service::status::v3::ClientConfig ClientConfigOf(const push::StreamReport& report, bool contents);

// A request's matchers, of which one must match; none matches every node.
bool Matches(const envoy::service::status::v3::ClientStatusRequest& request, const model::Proxy& proxy);

}  // namespace fairlead::debug

#endif  // FAIRLEAD_DEBUG_CLIENT_CONFIG_H_
