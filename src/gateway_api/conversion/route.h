#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_ROUTE_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_ROUTE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/object.h"
#include "gateway_api/conversion/attachment.h"
#include "gateway_api/conversion/inference_pool.h"
#include "gateway_api/error.h"
#include "gateway_api/lookups.h"

namespace istio::networking::v1alpha3 {
class VirtualService;
}

namespace fairlead::gateway_api {

// A VirtualService of one host at one gateway, or for one host of the mesh, as one route makes it.
struct RoutePiece {
  // Pieces of one key become one object; those of TCP and TLS routes have keys of their own.
  std::string key;
  std::string name;
  config::ConfigPtr route;
  std::shared_ptr<const istio::networking::v1alpha3::VirtualService> spec;
  std::shared_ptr<const PickersByRule> pickers;  // of all the route's rules; never null
};
using RoutePiecePtr = std::shared_ptr<const RoutePiece>;

// All that a route comes to.
struct RouteConversion {
  config::ConfigPtr object;
  std::vector<Attachment> attachments;
  MaybeError mesh_error, gateway_error;  // of the rules, as they are for either
  std::vector<RoutePiecePtr> pieces;
  // Gateways and backends that the route names, attached or not: what policies on the backends report.
  std::vector<std::pair<config::ObjectKey, config::ObjectKey>> named;
  std::vector<config::ObjectKey> pools;  // that it names, there or not
};
using RouteConversionPtr = std::shared_ptr<const RouteConversion>;

// Whether the kind is one that becomes VirtualServices: HTTPRoute, GRPCRoute, TCPRoute, TLSRoute, UDPRoute.
// Rules of a UDPRoute are TCP routes of gateways whose server has the protocol UDP.
bool IsRoute(config::Kind kind);

RouteConversion ConvertRoute(const config::ConfigPtr& route, Lookups& lookups);

// The object that the pieces of one key become: rules of HTTPRoutes and GRPCRoutes for one host of one
// gateway are one list in the order of precedence, the oldest route's first among equals.
// REQUIRES: there are some.
config::ConfigPtr MergePieces(std::vector<RoutePiecePtr> pieces);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_ROUTE_H_
