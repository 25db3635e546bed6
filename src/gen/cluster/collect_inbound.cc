#include <google/protobuf/struct.pb.h>

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
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"

namespace fairlead::gen {
namespace {

using istio::mesh::v1alpha1::MeshConfig;
using istio::networking::v1alpha3::IstioIngressListener;

// "true" of a key in the node's metadata that ProxyMetadata does not name.
bool RawFlag(const model::Proxy& proxy, const char* key) {
  if (proxy.metadata.raw == nullptr) return false;
  const auto it = proxy.metadata.raw->fields().find(key);
  return it != proxy.metadata.raw->fields().end() && it->second.string_value() == "true";
}

const istio::mesh::v1alpha1::ProxyConfig& ProxyConfigOf(const model::Settings& settings,
                                                        const model::Proxy& proxy) {
  return proxy.metadata.proxy_config ? *proxy.metadata.proxy_config : settings.mesh->default_config();
}

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
bool SetDefaultEndpoint(const std::string& endpoint, const model::Proxy& proxy, InboundInputs* inputs) {
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

InboundInputs Base(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                   const ClusterTraits& traits) {
  InboundInputs inputs;
  inputs.settings = snapshot.settings;
  inputs.traits = traits;
  inputs.sidecar = scope.sidecar->object;
  return inputs;
}

void SetRule(const mesh::ProxyScope& scope, std::string_view host, std::string_view ns,
             InboundInputs* inputs) {
  inputs->rule = scope.sidecar->FindDestinationRule(host, ns, scope.labels, /*outbound=*/false);
}

std::vector<InboundInputs> FromTargets(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                                       const ClusterTraits& traits) {
  std::map<uint32_t, InboundInputs> by_port;
  const bool passthrough = snapshot.settings->mesh->inbound_traffic_policy().mode() ==
                           MeshConfig::InboundTrafficPolicy::PASSTHROUGH;
  for (const mesh::ServiceTarget& target : scope.targets) {
    auto [it, first] = by_port.try_emplace(target.target_port);
    InboundInputs& inputs = it->second;
    if (first) {
      inputs = Base(snapshot, scope, traits);
      inputs.cluster_port = target.target_port;
      inputs.bind_port = target.target_port;
      if (!passthrough) inputs.bind = traits.ipv4 ? "127.0.0.1" : "::1";
      SetRule(scope, target.service->hostname, target.service->ns, &inputs);
    }
    inputs.targets.push_back({target.service, target.port});
  }
  std::vector<InboundInputs> all;
  for (auto& [port, inputs] : by_port) all.push_back(std::move(inputs));
  return all;
}

std::optional<InboundInputs> FromListener(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                                          const ClusterTraits& traits, const IstioIngressListener& listener) {
  InboundInputs inputs = Base(snapshot, scope, traits);
  inputs.ingress_listener = true;
  inputs.cluster_port = listener.port().number();
  inputs.listener_protocol = listener.port().protocol();
  inputs.listener_port_name = listener.port().name();
  if (!SetDefaultEndpoint(listener.default_endpoint(), *scope.proxy, &inputs)) return std::nullopt;
  const auto target =
      std::find_if(scope.targets.begin(), scope.targets.end(),
                   [&](const mesh::ServiceTarget& t) { return t.target_port == inputs.cluster_port; });
  if (target != scope.targets.end()) {
    inputs.targets.push_back({target->service, nullptr});
    SetRule(scope, target->service->hostname, target->service->ns, &inputs);
  } else {
    inputs.sidecar_name = scope.sidecar->object->name();
    inputs.sidecar_namespace = scope.sidecar->ns;
  }
  return inputs;
}

}  // namespace

ClusterTraits CollectTraits(const mesh::MeshSnapshot& snapshot, const model::Proxy& proxy) {
  ClusterTraits traits;
  traits.type = proxy.type;
  traits.ipv4 = proxy.supports_ipv4;
  traits.ipv6 = proxy.supports_ipv6;
  const auto& config = ProxyConfigOf(*snapshot.settings, proxy);
  traits.preserve_header_case = config.proxy_headers().preserve_http1_header_case().value();
  traits.metadata_exchange = proxy.HasExtension("istio.metadata_exchange");
  traits.credential_socket = RawFlag(proxy, "credential");
  traits.file_credential_socket = RawFlag(proxy, "file-credential");
  if (!proxy.metadata.tls_client_cert_chain.empty()) {
    traits.client_certificate = proxy.metadata.tls_client_cert_chain;
    traits.client_key = proxy.metadata.tls_client_key;
    traits.client_root = proxy.metadata.tls_client_root_cert;
  }
  return traits;
}

std::vector<InboundInputs> CollectInbound(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                                          const ClusterTraits& traits) {
  if (!scope.sidecar->HasIngressListeners()) {
    // Without interception, the application itself holds its ports.
    if (scope.proxy->metadata.interception_mode == model::InterceptionMode::kNone) return {};
    return FromTargets(snapshot, scope, traits);
  }
  std::vector<InboundInputs> all;
  for (const IstioIngressListener& listener : scope.sidecar->sidecar->ingress()) {
    if (auto inputs = FromListener(snapshot, scope, traits, listener)) all.push_back(std::move(*inputs));
  }
  return all;
}

std::vector<FixedInputs> CollectFixed(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                                      const ClusterTraits& traits) {
  std::vector<FixedInputs> all;
  const auto add = [&](FixedInputs::Kind kind) {
    FixedInputs inputs;
    inputs.kind = kind;
    inputs.settings = snapshot.settings;
    inputs.traits = traits;
    all.push_back(std::move(inputs));
  };
  add(FixedInputs::Kind::kBlackHole);
  if (traits.type == model::ProxyType::kSidecar) {
    add(FixedInputs::Kind::kPassthrough);
    add(FixedInputs::Kind::kInboundPassthrough);
    using Policy = istio::networking::v1alpha3::OutboundTrafficPolicy;
    // Not among the modes of a Sidecar, whose API is older; the mesh's numbers are the same.
    if (scope.sidecar->outbound_traffic_policy->mode() ==
        static_cast<Policy::Mode>(MeshConfig::OutboundTrafficPolicy::ALLOW_ANY_DYNAMIC_DNS)) {
      add(FixedInputs::Kind::kAllowAnyDynamicDns);
      const model::ProxyMetadata& metadata = scope.proxy->metadata;
      if (metadata.dns_capture) {
        all.back().dns_proxy_address =
            metadata.dns_proxy_addr.empty() ? "127.0.0.1:15053" : metadata.dns_proxy_addr;
      }
      const auto& ips = metadata.instance_ips;
      all.back().instance_ipv6_only =
          !ips.empty() && std::all_of(ips.begin(), ips.end(), [](const std::string& ip) {
            const auto parsed = IpAddress::Parse(ip);
            return parsed && parsed->is_v6();
          });
    }
  }
  if (traits.credential_socket) add(FixedInputs::Kind::kExternalSecrets);
  return all;
}

bool PassesMutualTlsThrough(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope) {
  using istio::networking::v1alpha3::Gateway;
  using istio::networking::v1alpha3::ServerTLSSettings;
  for (const config::ConfigPtr& object : snapshot.objects->Of(config::Kind::kGateway)) {
    const auto& gateway = object->Spec<Gateway>();
    const LabelMap selector(gateway.selector().begin(), gateway.selector().end());
    if (!SelectorMatches(selector, scope.labels)) continue;
    for (const auto& server : gateway.servers()) {
      if (server.tls().mode() == ServerTLSSettings::AUTO_PASSTHROUGH) return true;
    }
  }
  return false;
}

}  // namespace fairlead::gen
