#include "gen/route/build.h"

#include "envoy/config/route/v3/route.pb.h"
#include "gen/route/route_name.h"
#include "proto/wire.h"

namespace fairlead::gen::route {
namespace {

namespace pb = envoy::config::route::v3;

// Envoy's own limit of 4 KiB is less than what validation lets a directResponse have.
constexpr uint32_t kMaxDirectResponseBody = 1024 * 1024;

void AppendVirtualHost(const VirtualHost& host, bool include_attempt_count, std::string* out) {
  std::string bytes;
  proto::AppendField(pb::VirtualHost::kNameFieldNumber, host.name, &bytes);
  for (const std::string& domain : host.domains) {
    proto::AppendField(pb::VirtualHost::kDomainsFieldNumber, domain, &bytes);
  }
  bytes.append(*host.routes);
  proto::AppendBool(pb::VirtualHost::kIncludeRequestAttemptCountFieldNumber, include_attempt_count, &bytes);
  bytes.append(host.session);
  proto::AppendField(pb::RouteConfiguration::kVirtualHostsFieldNumber, bytes, out);
}

bool IncludesAttemptCount(const Inputs& inputs) {
  return inputs.hosts != nullptr && inputs.hosts->client.include_attempt_count;
}

void AppendVirtualHosts(const VirtualHosts& hosts, bool include_attempt_count, std::string* out) {
  for (const VirtualHost& host : hosts) AppendVirtualHost(host, include_attempt_count, out);
}

}  // namespace

std::string BuildUnknownRouteConfiguration(std::string_view name) {
  pb::RouteConfiguration message;
  message.set_name(std::string(name));
  message.mutable_validate_clusters()->set_value(false);
  return message.SerializeAsString();
}

std::string BuildProxylessRouteConfiguration(std::string_view name, const VirtualHosts& hosts,
                                             bool include_attempt_count) {
  std::string out;
  proto::AppendField(pb::RouteConfiguration::kNameFieldNumber, name, &out);
  AppendVirtualHosts(hosts, include_attempt_count, &out);
  return out;
}

std::string BuildOutboundRouteConfiguration(const Inputs& inputs, const VirtualHosts& hosts) {
  // In the order of the fields' numbers, as protobuf writes messages: some readers count on it.
  std::string out;
  proto::AppendField(pb::RouteConfiguration::kNameFieldNumber, inputs.name, &out);
  const RouteName name = ParseRouteName(inputs.name);
  if (name.kind == RouteName::Kind::kSniffed) {
    AppendVirtualHosts(SniffedHosts(hosts, inputs.name, name.host), IncludesAttemptCount(inputs), &out);
  } else {
    AppendVirtualHosts(hosts, IncludesAttemptCount(inputs), &out);
    pb::VirtualHost catch_all;
    BuildCatchAllVirtualHost(inputs.catch_all, &catch_all);
    proto::AppendField(pb::RouteConfiguration::kVirtualHostsFieldNumber, catch_all.SerializeAsString(), &out);
  }
  pb::RouteConfiguration rest;
  rest.mutable_validate_clusters()->set_value(false);
  rest.mutable_max_direct_response_body_size_bytes()->set_value(kMaxDirectResponseBody);
  rest.set_ignore_port_in_host_matching(true);
  rest.AppendToString(&out);
  return out;
}

}  // namespace fairlead::gen::route
