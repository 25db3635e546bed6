#include "push/stream/generators.h"

#include <memory>
#include <string>

#include "gen/gateway/generators.h"
#include "gen/generator.h"
#include "gen/grpc/generators.h"
#include "model/proxyless.h"

namespace fairlead::push {
namespace {

using xds::TypeId;

std::unique_ptr<gen::Generator>& At(TypeId type, Generators* generators) {
  return (*generators)[static_cast<size_t>(type)];
}

}  // namespace

Generators MakeGenerators() {
  Generators all;
  At(TypeId::kCluster, &all) = gen::NewClusterGenerator();
  At(TypeId::kEndpoint, &all) = gen::NewEndpointGenerator();
  At(TypeId::kListener, &all) = gen::NewGatewayListenerGenerator(gen::NewListenerGenerator());
  At(TypeId::kRoute, &all) = gen::NewGatewayRouteGenerator(gen::NewRouteGenerator());
  At(TypeId::kVirtualHost, &all) = gen::NewVirtualHostGenerator();
  At(TypeId::kSecret, &all) = gen::NewSecretGenerator();
  At(TypeId::kExtension, &all) = gen::NewExtensionGenerator();
  At(TypeId::kNameTable, &all) = gen::NewNameTableGenerator();
  At(TypeId::kProxyConfig, &all) = gen::NewProxyConfigGenerator();
  return all;
}

GeneratorVariants MakeGeneratorVariants() {
  GeneratorVariants variants;
  Generators& grpc = variants[std::string(model::kGrpcGenerator)];
  At(TypeId::kCluster, &grpc) = gen::NewGrpcClusterGenerator();
  At(TypeId::kListener, &grpc) = gen::NewGrpcListenerGenerator();
  At(TypeId::kRoute, &grpc) = gen::NewGrpcRouteGenerator();
  return variants;
}

}  // namespace fairlead::push
