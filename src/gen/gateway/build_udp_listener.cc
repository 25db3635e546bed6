#include "gen/gateway/build_udp_listener.h"

#include <string>

#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/udp/udp_proxy/v3/route.pb.h"
#include "envoy/extensions/filters/udp/udp_proxy/v3/udp_proxy.pb.h"
#include "envoy/extensions/matching/input_matchers/runtime_fraction/v3/runtime_fraction.pb.h"
#include "gen/naming/stat_name.h"
#include "proto/messages.h"
#include "xds/type/matcher/v3/matcher.pb.h"

namespace fairlead::gen::gateway {
namespace {

using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::udp::udp_proxy::v3::Route;
using envoy::extensions::filters::udp::udp_proxy::v3::UdpProxyConfig;
using envoy::extensions::matching::input_matchers::runtime_fraction::v3::RuntimeFraction;
using envoy::type::v3::FractionalPercent;
using ::xds::type::matcher::v3::Matcher;

constexpr uint64_t kMillion = 1'000'000;

void SetRoute(const std::string& cluster, Matcher::OnMatch* out) {
  Route route;
  route.set_cluster(cluster);
  out->mutable_action()->set_name("route");
  proto::Pack(route, out->mutable_action()->mutable_typed_config());
}

// Source ports whose hash is among the first `part` of `total`.
void SetShare(uint64_t part, uint64_t total, Matcher::MatcherList::Predicate::SinglePredicate* out) {
  out->mutable_input()->set_name("source_port");
  proto::PackEmpty("envoy.extensions.matching.common_inputs.network.v3.SourcePortInput",
                   out->mutable_input()->mutable_typed_config());
  RuntimeFraction share;
  FractionalPercent* percent = share.mutable_runtime_fraction()->mutable_default_value();
  percent->set_numerator(static_cast<uint32_t>((part * kMillion + total / 2) / total));
  percent->set_denominator(FractionalPercent::MILLION);
  out->mutable_custom_match()->set_name("envoy.matching.matchers.runtime_fraction");
  proto::Pack(share, out->mutable_custom_match()->mutable_typed_config());
}

// The hash of a source port is the same for all shares, so each share reaches to where the next begins.
void SetMatcher(const DatagramForward& forward, Matcher* out) {
  uint64_t reached = 0;
  for (const listener::WeightedCluster& cluster : forward.clusters) {
    reached += cluster.weight;
    if (reached == forward.total) return SetRoute(cluster.name, out->mutable_on_no_match());
    auto* share = out->mutable_matcher_list()->add_matchers();
    SetShare(reached, forward.total, share->mutable_predicate()->mutable_single_predicate());
    SetRoute(cluster.name, share->mutable_on_match());
  }
}

}  // namespace

void SetUdpProxy(const GatewayListenerInputs& inputs, Listener* out) {
  const DatagramForward& forward = *inputs.datagrams;
  proto::SetUdpAddress(inputs.bind, inputs.port, out->mutable_address());
  if (!inputs.more_bind.empty())
    proto::SetUdpAddress(inputs.more_bind, inputs.port, out->add_additional_addresses()->mutable_address());
  out->mutable_udp_listener_config()->mutable_downstream_socket_config();
  UdpProxyConfig proxy;
  proxy.set_stat_prefix(StatName(inputs.Name()));
  SetMatcher(forward, proxy.mutable_matcher());
  if (forward.hash_source_ip) proxy.add_hash_policies()->set_source_ip(true);
  auto* filter = out->add_listener_filters();
  filter->set_name("envoy.filters.udp_listener.udp_proxy");
  proto::Pack(proxy, filter->mutable_typed_config());
}

}  // namespace fairlead::gen::gateway
