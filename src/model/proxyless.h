#ifndef FAIRLEAD_MODEL_PROXYLESS_H_
#define FAIRLEAD_MODEL_PROXYLESS_H_

#include "model/proxy.h"

namespace fairlead::model {

// The GENERATOR that the metadata of gRPC clients and servers names which speak xDS themselves.
inline constexpr std::string_view kGrpcGenerator = "grpc";

// Whether there is no Envoy at the other end, but a gRPC library: it opens no tunnels, matches hosts with
// their ports, and reads other timeouts. Source: Istio's IsProxylessGrpc.
inline bool IsProxyless(const Proxy& proxy) { return proxy.metadata.generator == kGrpcGenerator; }

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_PROXYLESS_H_
