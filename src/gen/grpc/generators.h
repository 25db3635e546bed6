#ifndef FAIRLEAD_GEN_GRPC_GENERATORS_H_
#define FAIRLEAD_GEN_GRPC_GENERATORS_H_

#include <memory>

#include "gen/generator.h"

// Generators for gRPC libraries that speak xDS themselves, without a proxy (node metadata GENERATOR is
// "grpc"). They ask for everything by name and read less than Envoy does. Their endpoints are those of all
// other clients. Source: Istio's grpcgen; gRPC's proposals A27 (clients), A28 (routes), A29 (TLS), A36
// (servers).
namespace fairlead::gen {

// Clusters by name, "outbound|80|v1|host"; a name of nothing gets nothing. There is no wildcard.
std::unique_ptr<Generator> NewGrpcClusterGenerator();
// For clients: API listeners by "host:port", or by "host" for all its ports. The host may be short; the
// answer keeps the requested name. For servers: "xds.istio.io/grpc/lds/inbound/ip:port", for the target ports
// of services. A name of nothing gets nothing; a wildcard gets the clients' ones of all services.
std::unique_ptr<Generator> NewGrpcListenerGenerator();
// Route configurations by the name of the cluster that they are for without subset, "outbound|80||host", with
// the virtual hosts of that host alone.
std::unique_ptr<Generator> NewGrpcRouteGenerator();

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_GRPC_GENERATORS_H_
