#include "config/read/proto_kinds.h"

#include "istio/extensions/v1alpha1/traffic_extension.pb.h"
#include "istio/extensions/v1alpha1/wasm.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"
#include "istio/networking/v1alpha3/workload_group.pb.h"
#include "istio/networking/v1beta1/proxy_config.pb.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "istio/security/v1beta1/peer_authentication.pb.h"
#include "istio/security/v1beta1/request_authentication.pb.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"

namespace fairlead::config {

std::shared_ptr<google::protobuf::Message> NewSpec(Kind kind) {
  switch (kind) {
    case Kind::kVirtualService:
      return std::make_shared<istio::networking::v1alpha3::VirtualService>();
    case Kind::kDestinationRule:
      return std::make_shared<istio::networking::v1alpha3::DestinationRule>();
    case Kind::kServiceEntry:
      return std::make_shared<istio::networking::v1alpha3::ServiceEntry>();
    case Kind::kWorkloadEntry:
      return std::make_shared<istio::networking::v1alpha3::WorkloadEntry>();
    case Kind::kWorkloadGroup:
      return std::make_shared<istio::networking::v1alpha3::WorkloadGroup>();
    case Kind::kGateway:
      return std::make_shared<istio::networking::v1alpha3::Gateway>();
    case Kind::kSidecar:
      return std::make_shared<istio::networking::v1alpha3::Sidecar>();
    case Kind::kEnvoyFilter:
      return std::make_shared<istio::networking::v1alpha3::EnvoyFilter>();
    case Kind::kProxyConfig:
      return std::make_shared<istio::networking::v1beta1::ProxyConfig>();
    case Kind::kPeerAuthentication:
      return std::make_shared<istio::security::v1beta1::PeerAuthentication>();
    case Kind::kRequestAuthentication:
      return std::make_shared<istio::security::v1beta1::RequestAuthentication>();
    case Kind::kAuthorizationPolicy:
      return std::make_shared<istio::security::v1beta1::AuthorizationPolicy>();
    case Kind::kTelemetry:
      return std::make_shared<istio::telemetry::v1alpha1::Telemetry>();
    case Kind::kWasmPlugin:
      return std::make_shared<istio::extensions::v1alpha1::WasmPlugin>();
    case Kind::kTrafficExtension:
      return std::make_shared<istio::extensions::v1alpha1::TrafficExtension>();
    default:
      return nullptr;
  }
}

}  // namespace fairlead::config
