#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ip_address.h"
#include "base/strings.h"
#include "gen/cluster/collect.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"

namespace fairlead::gen {
namespace {

using istio::mesh::v1alpha1::MeshConfig;
using istio::networking::v1alpha3::IstioIngressListener;

// The proxy's first address of a family, else that family's loopback.
std::string InstanceAddress(const model::Proxy& proxy, bool v6) {
  for (const std::string& address : proxy.ip_addresses) {
    const auto ip = IpAddress::Parse(address);
    if (ip && ip->is_v6() == v6) return address;
  }
  return v6 ? "::1" : "127.0.0.1";
}

struct HostPort {
  std::string_view host, port;
};

// "host:port", "[v6]:port"; nothing where it is neither.
std::optional<HostPort> SplitHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  HostPort out{text.substr(0, colon), text.substr(colon + 1)};
  if (out.host.starts_with('[') && out.host.ends_with(']')) {
    out.host = out.host.substr(1, out.host.size() - 2);
  } else if (out.host.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  return out;
}

// Where an ingress listener's traffic goes: "" the original destination; a socket; the workload's own
// addresses for 0.0.0.0 and [::]; a loopback address of a family that the proxy has for 127.0.0.1 and [::1].
// False: not readable.
bool SetDefaultEndpoint(const std::string& endpoint, const model::Proxy& proxy,
                        InboundClusterInputs* inputs) {
  if (endpoint.empty()) return true;
  if (endpoint.starts_with("unix://")) {
    inputs->bind = endpoint;
    return true;
  }
  const std::optional<HostPort> parts = SplitHostPort(endpoint);
  if (!parts || parts->port.empty()) return false;
  const auto [end, error] =
      std::from_chars(parts->port.data(), parts->port.data() + parts->port.size(), inputs->bind_port);
  if (error != std::errc() || end != parts->port.data() + parts->port.size()) return false;
  if (parts->host == "0.0.0.0") {
    inputs->bind = InstanceAddress(proxy, /*v6=*/false);
  } else if (parts->host == "::") {
    inputs->bind = InstanceAddress(proxy, /*v6=*/true);
  } else if (parts->host == "127.0.0.1") {
    inputs->bind = proxy.supports_ipv4 ? "127.0.0.1" : "::1";
  } else if (parts->host == "::1") {
    inputs->bind = proxy.supports_ipv6 ? "::1" : "127.0.0.1";
  }
  return true;
}

InboundClusterInputs Base(mesh::View& view, const ClusterTraits& traits) {
  InboundClusterInputs inputs;
  inputs.settings = view.settings(model::SettingsPart::kClusters);
  inputs.traits = traits;
  inputs.sidecar = view.sidecar_object();
  return inputs;
}

using IngressListeners = google::protobuf::RepeatedPtrField<IstioIngressListener>;

// All ports of services but those of `ingress`.
std::vector<InboundClusterInputs> FromTargets(mesh::View& view, const ClusterTraits& traits,
                                              const IngressListeners& ingress) {
  std::map<uint32_t, InboundClusterInputs> by_port;
  const bool passthrough =
      view.settings(model::SettingsPart::kClusters)->mesh->inbound_traffic_policy().mode() ==
      MeshConfig::InboundTrafficPolicy::PASSTHROUGH;
  for (const mesh::ServiceTarget& target : view.targets()) {
    const bool own = std::any_of(ingress.begin(), ingress.end(), [&target](const IstioIngressListener& l) {
      return l.port().number() == target.target_port;
    });
    if (own) continue;
    auto [it, first] = by_port.try_emplace(target.target_port);
    InboundClusterInputs& inputs = it->second;
    if (first) {
      inputs = Base(view, traits);
      inputs.cluster_port = target.target_port;
      inputs.bind_port = target.target_port;
      if (!passthrough) inputs.bind = traits.ipv4 ? "127.0.0.1" : "::1";
      inputs.rule = view.InboundRule(target.service->hostname);
    }
    inputs.targets.push_back({target.service, target.port});
  }
  std::vector<InboundClusterInputs> all;
  all.reserve(by_port.size());
  for (auto& [port, inputs] : by_port) all.push_back(std::move(inputs));
  return all;
}

const IngressListeners& IngressOf(mesh::View& view) {
  static const auto* const none = new IngressListeners;
  const config::ConfigPtr& sidecar = view.sidecar_object();
  return sidecar == nullptr ? *none : sidecar->Spec<istio::networking::v1alpha3::Sidecar>().ingress();
}

std::optional<InboundClusterInputs> FromListener(mesh::View& view, const ClusterTraits& traits,
                                                 const IstioIngressListener& listener) {
  InboundClusterInputs inputs = Base(view, traits);
  inputs.ingress_listener = true;
  inputs.cluster_port = listener.port().number();
  inputs.listener_protocol = listener.port().protocol();
  inputs.listener_port_name = listener.port().name();
  if (!SetDefaultEndpoint(listener.default_endpoint(), view.proxy(), &inputs)) return std::nullopt;
  const std::vector<mesh::ServiceTarget>& targets = view.targets();
  const auto target = std::find_if(targets.begin(), targets.end(), [&](const mesh::ServiceTarget& t) {
    return t.target_port == inputs.cluster_port;
  });
  if (target != targets.end()) {
    inputs.targets.push_back({target->service, nullptr});
    inputs.rule = view.InboundRule(target->service->hostname);
  } else {
    inputs.sidecar_name = view.sidecar_object()->name();
    inputs.sidecar_namespace = view.client_namespace();
  }
  return inputs;
}

}  // namespace

ClusterTraits CollectTraits(mesh::View& view) {
  const model::ProxyClass& proxy = view.proxy_class();
  ClusterTraits traits;
  traits.type = proxy.type;
  traits.ipv4 = proxy.ipv4;
  traits.ipv6 = proxy.ipv6;
  traits.preserve_header_case = view.proxy_config()->proxy_headers().preserve_http1_header_case().value();
  traits.metadata_exchange = proxy.HasExtension("istio.metadata_exchange");
  traits.credential_socket = proxy.credential_socket;
  traits.file_credential_socket = proxy.file_credential_socket;
  traits.client_certificate = proxy.client_certificate;
  traits.client_key = proxy.client_key;
  traits.client_root = proxy.client_root;
  return traits;
}

std::vector<InboundClusterInputs> CollectInbound(mesh::View& view, const ClusterTraits& traits) {
  const IngressListeners& ingress = IngressOf(view);
  if (ingress.empty()) {
    // Without interception, the application itself holds its ports.
    if (view.proxy_class().interception == model::InterceptionMode::kNone) return {};
    return FromTargets(view, traits, ingress);
  }
  std::vector<InboundClusterInputs> all;
  if (view.settings(model::SettingsPart::kClusters)->features.merged_ingress)
    all = FromTargets(view, traits, ingress);
  for (const IstioIngressListener& listener : ingress) {
    if (auto inputs = FromListener(view, traits, listener)) all.push_back(std::move(*inputs));
  }
  return all;
}

std::vector<FixedInputs> CollectFixed(mesh::View& view, const ClusterTraits& traits) {
  std::vector<FixedInputs> all;
  const auto add = [&](FixedInputs::Kind kind) {
    FixedInputs inputs;
    inputs.kind = kind;
    inputs.settings = view.settings(model::SettingsPart::kClusters);
    inputs.traits = traits;
    all.push_back(std::move(inputs));
  };
  add(FixedInputs::Kind::kBlackHole);
  if (traits.type == model::ProxyType::kSidecar) {
    add(FixedInputs::Kind::kPassthrough);
    add(FixedInputs::Kind::kInboundPassthrough);
    using Policy = istio::networking::v1alpha3::OutboundTrafficPolicy;
    // Not among the modes of a Sidecar, whose API is older; the mesh's numbers are the same.
    if (view.outbound_policy().mode() ==
        static_cast<Policy::Mode>(MeshConfig::OutboundTrafficPolicy::ALLOW_ANY_DYNAMIC_DNS)) {
      add(FixedInputs::Kind::kAllowAnyDynamicDns);
      all.back().dns_proxy_address = view.proxy_class().dns_proxy.str();
      all.back().instance_ipv4 = view.proxy_class().instance_ipv4;
      all.back().instance_ipv6 = view.proxy_class().instance_ipv6;
    }
  }
  if (traits.credential_socket) add(FixedInputs::Kind::kExternalSecrets);
  return all;
}

}  // namespace fairlead::gen
