#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "gen/cluster/build.h"
#include "gen/grpc/build.h"
#include "gen/grpc/collect.h"
#include "gen/naming/stat_name.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::grpc {
namespace {

namespace cl = envoy::config::cluster::v3;
using LoadBalancer = api::LoadBalancerSettings;

// Round robin is gRPC's own default; of the other simple algorithms it has least request.
void SetLoadBalancer(const LoadBalancer& settings, cl::Cluster* out) {
  if (settings.has_consistent_hash()) return SetConsistentHash(settings, out);
  if (settings.simple() == LoadBalancer::LEAST_REQUEST) out->set_lb_policy(cl::Cluster::LEAST_REQUEST);
}

// Of the limits gRPC has that of requests (proposal A32).
void SetCircuitBreakers(const api::ConnectionPoolSettings& pool, cl::Cluster* out) {
  const int32_t requests = pool.http().http2_max_requests();
  if (requests <= 0) return;
  out->mutable_circuit_breakers()->add_thresholds()->mutable_max_requests()->set_value(
      static_cast<uint32_t>(requests));
}

// Only where the rule says so: nothing tells whether a client uses xDS credentials, nor whether a server that
// takes plain text too could be reached, as gRPC does not let the ALPN be chosen.
void SetMutualTls(const std::vector<std::string>& identities, cl::Cluster* out) {
  envoy::extensions::transport_sockets::tls::v3::UpstreamTlsContext context;
  SetCertificateProviders(identities, context.mutable_common_tls_context());
  out->mutable_transport_socket()->set_name("envoy.transport_sockets.tls");
  proto::Pack(context, out->mutable_transport_socket()->mutable_typed_config());
}

}  // namespace

void BuildCluster(const ClusterInputs& inputs, cl::Cluster* out) {
  out->set_name(inputs.name);
  out->set_alt_stat_name(StatName(inputs.name));
  out->set_type(cl::Cluster::EDS);
  out->mutable_eds_cluster_config()->set_service_name(inputs.name);
  out->mutable_eds_cluster_config()->mutable_eds_config()->mutable_ads();
  if (inputs.subset.empty() && inputs.keeps_sessions) KeepDraining(out);
  const EffectivePolicy policy = PolicyOf(inputs);
  if (policy.tls != nullptr && policy.tls->mode() == api::ClientTLSSettings::ISTIO_MUTUAL) {
    SetMutualTls(inputs.identities, out);
  }
  if (policy.load_balancer != nullptr) SetLoadBalancer(*policy.load_balancer, out);
  if (policy.connection_pool != nullptr) SetCircuitBreakers(*policy.connection_pool, out);
}

}  // namespace fairlead::gen::grpc
