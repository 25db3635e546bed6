#include "envoy/config/core/v3/base.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/config/route/v3/route.pb.h"
#include "envoy/extensions/filters/http/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/http/stateful_session/v3/stateful_session.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "gen/grpc/authorization.h"
#include "gen/grpc/build.h"
#include "gen/naming/cluster_name.h"
#include "gen/route/sessions.h"
#include "proto/messages.h"

namespace fairlead::gen::grpc {
namespace {

using envoy::config::core::v3::Address;
using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;

void AddFilter(std::string_view name, std::string_view type, HttpConnectionManager* out) {
  auto* filter = out->add_http_filters();
  filter->set_name(std::string(name));
  proto::PackEmpty(type, filter->mutable_typed_config());
}

void AddSessions(const std::string& session, HttpConnectionManager* out) {
  auto* filter = out->add_http_filters();
  filter->set_name(std::string(route::kSessionFilter));
  envoy::extensions::filters::http::stateful_session::v3::StatefulSession config;
  config.ParseFromString(session);
  proto::Pack(config, filter->mutable_typed_config());
}

// Must be the last filter.
void AddRouter(HttpConnectionManager* out) {
  AddFilter("envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router", out);
}

void SetAddress(std::string_view ip, uint32_t port, Address* out) {
  proto::SetSocketAddress(ip, port, out->mutable_socket_address());
}

// A server's routes say only that all calls are its own.
void SetOwnCalls(HttpConnectionManager* out) {
  auto* routes = out->mutable_route_config();
  routes->set_name("inbound");
  auto* host = routes->add_virtual_hosts();
  host->add_domains("*");
  auto* route = host->add_routes();
  route->mutable_match()->set_prefix("/");
  route->mutable_non_forwarding_action();
}

void AddAccess(std::string_view name, AccessAction action, const std::vector<config::ConfigPtr>& policies,
               HttpConnectionManager* out) {
  envoy::extensions::filters::http::rbac::v3::RBAC access;
  BuildAccess(action, policies, access.mutable_rules());
  if (action == AccessAction::kDeny && access.rules().policies().empty()) return;
  auto* filter = out->add_http_filters();
  filter->set_name(std::string(name));
  proto::Pack(access, filter->mutable_typed_config());
}

// Who is denied is out; where there are policies that allow, one of them must.
void AddAuthorization(const ServerPolicies& authorization, HttpConnectionManager* out) {
  AddAccess("envoy.filters.http.rbac.DENY", AccessAction::kDeny, authorization.deny, out);
  if (authorization.allow.empty()) return;
  AddAccess("envoy.filters.http.rbac", AccessAction::kAllow, authorization.allow, out);
}

void SetMutualTls(FilterChain* out) {
  envoy::extensions::transport_sockets::tls::v3::DownstreamTlsContext context;
  SetCertificateProviders({}, context.mutable_common_tls_context());
  context.mutable_require_client_certificate()->set_value(true);
  out->mutable_transport_socket()->set_name("envoy.transport_sockets.tls");
  proto::Pack(context, out->mutable_transport_socket()->mutable_typed_config());
}

}  // namespace

void BuildClientListener(const ClientListenerInputs& inputs, Listener* out) {
  out->set_name(inputs.name);
  SetAddress(inputs.addresses.front(), inputs.port, out->mutable_address());
  for (size_t i = 1; i < inputs.addresses.size(); ++i) {
    SetAddress(inputs.addresses[i], inputs.port, out->add_additional_addresses()->mutable_address());
  }
  HttpConnectionManager manager;
  if (!inputs.session.empty()) AddSessions(inputs.session, &manager);
  AddFilter("envoy.filters.http.fault", "envoy.extensions.filters.http.fault.v3.HTTPFault", &manager);
  AddRouter(&manager);
  manager.mutable_rds()->mutable_config_source()->mutable_ads();
  manager.mutable_rds()->set_route_config_name(OutboundClusterName(inputs.port, "", inputs.host));
  proto::Pack(manager, out->mutable_api_listener()->mutable_api_listener());
}

void BuildServerListener(const ServerListenerInputs& inputs, Listener* out) {
  out->set_name(inputs.name);
  SetAddress(inputs.address, inputs.port, out->mutable_address());
  for (const std::string& address : inputs.more_addresses) {
    SetAddress(address, inputs.port, out->add_additional_addresses()->mutable_address());
  }
  const std::string kind = inputs.mutual_tls ? "mtls" : "plaintext";
  FilterChain* chain = out->add_filter_chains();
  chain->set_name("inbound-" + kind);
  if (inputs.mutual_tls) SetMutualTls(chain);
  HttpConnectionManager manager;
  SetOwnCalls(&manager);
  AddAuthorization(inputs.authorization, &manager);
  AddRouter(&manager);
  auto* filter = chain->add_filters();
  filter->set_name("inbound-hcm" + kind);
  proto::Pack(manager, filter->mutable_typed_config());
}

}  // namespace fairlead::gen::grpc
