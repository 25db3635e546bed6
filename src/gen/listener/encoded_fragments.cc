#include "gen/listener/encoded_fragments.h"

#include <google/protobuf/any.pb.h>

#include <utility>

#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.pb.h"
#include "gen/security/access_filters.h"
#include "gen/telemetry/access_log.h"
#include "gen/telemetry/metrics.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;

std::string EncodedConnectionManager(const ProxyTraits& traits, const HttpOptions& options) {
  HttpConnectionManager manager;
  SetConnectionManager(traits, options, &manager);
  return proto::DeterministicBytes(manager);
}

std::string EncodedAccess(const ProxyTraits& traits, const security::AccessChain& place) {
  envoy::config::listener::v3::FilterChain chain;
  for (auto& filter : security::BuildNetworkAccess(traits.access.authorization, place)) {
    *chain.add_filters() = std::move(filter);
  }
  return proto::DeterministicBytes(chain);
}

std::string EncodedTls(const ProxyTraits& traits, Inner inner) {
  envoy::config::core::v3::TransportSocket socket;
  SetMutualTls(traits, inner, &socket);
  return proto::DeterministicBytes(socket);
}

}  // namespace

EncodedFragments::EncodedFragments(ProxyTraits traits)
    : traits_(std::move(traits)),
      plugins_by_port_(extension::DependOnPorts(traits_.plugins)),
      http_tls_(EncodedTls(traits_, Inner::kHttp)),
      tcp_tls_(EncodedTls(traits_, Inner::kTcp)) {}

const EncodedFragments::Parts& EncodedFragments::Of(TrafficClass traffic) const {
  Lazy& lazy = traffic == TrafficClass::kInbound ? inbound_ : outbound_;
  absl::call_once(lazy.once, [&] { lazy.parts = Encode(traffic); });
  return lazy.parts;
}

EncodedFragments::Parts EncodedFragments::Encode(TrafficClass traffic) const {
  Parts parts;
  HttpOptions options;
  options.traffic = traffic;
  parts.connection_manager = EncodedConnectionManager(traits_, options);
  if (traffic == TrafficClass::kInbound) {
    options.protocol = model::Protocol::kHttp2;
    parts.http2_connection_manager = EncodedConnectionManager(traits_, options);
  }
  envoy::extensions::filters::network::tcp_proxy::v3::TcpProxy tcp;
  telemetry::AddAccessLogs(traits_, traffic, telemetry::LogPlace::kTcp, tcp.mutable_access_log());
  parts.tcp_logs = proto::DeterministicBytes(tcp);
  envoy::config::listener::v3::Listener listener;
  telemetry::AddAccessLogs(traits_, traffic, telemetry::LogPlace::kListener, listener.mutable_access_log());
  parts.listener_logs = proto::DeterministicBytes(listener);
  envoy::config::listener::v3::FilterChain chain;
  for (google::protobuf::Any& config : telemetry::StatsConfigs(traits_, traffic)) {
    auto* filter = chain.add_filters();
    filter->set_name(std::string(telemetry::kStatsFilter));
    *filter->mutable_typed_config() = std::move(config);
  }
  parts.stats = proto::DeterministicBytes(chain);
  if (traffic != TrafficClass::kOutbound) {
    parts.custom_access = EncodedAccess(traits_, {.custom = true});
    parts.local_access = EncodedAccess(traits_, {});
  }
  return parts;
}

std::string EncodedFragments::ConnectionManager(const HttpOptions& options) const {
  const bool http2 = options.traffic == TrafficClass::kInbound && model::IsHttp2(options.protocol);
  const bool special = options.protocol == model::Protocol::kGrpcWeb || options.forward_proxy_port ||
                       !options.dynamic_dns_host.empty() || options.http3 || plugins_by_port_;
  if (special) return EncodedConnectionManager(traits_, options);
  return http2 ? Of(options.traffic).http2_connection_manager : Of(options.traffic).connection_manager;
}

EncodedFragmentsPtr FragmentPool::Intern(ProxyTraits traits) {
  {
    std::lock_guard lock(mutex_);
    const auto found = of_traits_.find(traits);
    if (found != of_traits_.end()) {
      if (EncodedFragmentsPtr fragments = found->second.lock()) return fragments;
    }
  }
  auto made = std::make_shared<const EncodedFragments>(std::move(traits));
  std::lock_guard lock(mutex_);
  std::weak_ptr<const EncodedFragments>& held = of_traits_[made->traits()];
  if (EncodedFragmentsPtr other = held.lock()) return other;
  held = made;
  return made;
}

void FragmentPool::Sweep() {
  std::lock_guard lock(mutex_);
  absl::erase_if(of_traits_, [](const auto& entry) { return entry.second.expired(); });
}

OriginList OriginsOf(const EncodedFragmentsPtr& fragments) {
  const ProxyTraits& traits = fragments->traits();
  const security::Authorization& authorization = traits.access.authorization;
  OriginList origins;
  for (const auto* objects :
       {&traits.telemetry.objects, &traits.plugins, &authorization.custom, &authorization.audit,
        &authorization.deny, &authorization.allow, &traits.access.authentication.policies}) {
    for (const config::ConfigPtr& object : *objects) origins.Add(object);
  }
  return origins;
}

}  // namespace fairlead::gen::listener
