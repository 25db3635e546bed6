#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/settings.h"

namespace fairlead::model {
namespace {

using istio::mesh::v1alpha1::AuthenticationPolicy;
using istio::mesh::v1alpha1::MeshConfig;
using istio::mesh::v1alpha1::ProxyConfig;

void FillProxyConfig(ProxyConfig* proxy) {
  proxy->set_config_path("./etc/istio/proxy");
  proxy->set_binary_path("/usr/local/bin/envoy");
  proxy->set_service_cluster("istio-proxy");
  proxy->mutable_drain_duration()->set_seconds(45);
  proxy->mutable_termination_drain_duration()->set_seconds(5);
  proxy->set_proxy_admin_port(15000);
  proxy->set_control_plane_auth_policy(AuthenticationPolicy::MUTUAL_TLS);
  proxy->set_discovery_address("istiod.istio-system.svc:15012");
  proxy->set_stat_name_length(189);
  proxy->set_status_port(15020);
}

void FillProviders(MeshConfig* mesh) {
  mesh->mutable_default_providers();
  auto* prometheus = mesh->add_extension_providers();
  prometheus->set_name("prometheus");
  prometheus->mutable_prometheus();
  auto* stackdriver = mesh->add_extension_providers();
  stackdriver->set_name("stackdriver");
  stackdriver->mutable_stackdriver();
  auto* access_log = mesh->add_extension_providers();
  access_log->set_name("envoy");
  access_log->mutable_envoy_file_access_log()->set_path("/dev/stdout");
}

void FillTraffic(MeshConfig* mesh) {
  mesh->set_proxy_listen_port(15001);
  mesh->set_proxy_inbound_listen_port(15006);
  mesh->mutable_connect_timeout()->set_seconds(10);
  mesh->mutable_protocol_detection_timeout();  // zero: no limit
  mesh->mutable_dns_refresh_rate()->set_seconds(60);
  mesh->mutable_enable_auto_mtls()->set_value(true);
  mesh->mutable_outbound_traffic_policy()->set_mode(MeshConfig::OutboundTrafficPolicy::ALLOW_ANY);
  mesh->mutable_inbound_traffic_policy()->set_mode(MeshConfig::InboundTrafficPolicy::PASSTHROUGH);
  mesh->mutable_locality_lb_setting()->mutable_enabled()->set_value(true);
  mesh->add_default_service_export_to("*");
  mesh->add_default_virtual_service_export_to("*");
  mesh->add_default_destination_rule_export_to("*");
}

MeshConfig MakeDefault() {
  MeshConfig mesh;
  mesh.set_enable_tracing(true);
  mesh.set_access_log_encoding(MeshConfig::TEXT);
  mesh.set_ingress_service("istio-ingressgateway");
  mesh.set_ingress_controller_mode(MeshConfig::STRICT);
  mesh.set_ingress_class("istio");
  mesh.set_trust_domain("cluster.local");
  mesh.set_root_namespace("istio-system");
  mesh.mutable_enable_prometheus_merge()->set_value(true);
  FillTraffic(&mesh);
  FillProxyConfig(mesh.mutable_default_config());
  FillProviders(&mesh);
  return mesh;
}

}  // namespace

std::shared_ptr<const MeshConfig> DefaultMeshConfig() {
  static const auto& mesh =
      *new std::shared_ptr<const MeshConfig>(std::make_shared<MeshConfig>(MakeDefault()));
  return mesh;
}

}  // namespace fairlead::model
