#include <algorithm>
#include <map>

#include "base/ip_address.h"
#include "base/strings.h"
#include "gen/listener/inbound.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/stat_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"

namespace fairlead::gen::listener {
namespace {

using istio::networking::v1alpha3::CaptureMode;
using istio::networking::v1alpha3::IstioIngressListener;
using istio::networking::v1alpha3::ServerTLSSettings;

using IngressListeners = google::protobuf::RepeatedPtrField<IstioIngressListener>;

const IngressListeners& IngressOf(mesh::View& view) {
  static const auto* const none = new IngressListeners;
  const config::ConfigPtr& sidecar = view.sidecar_object();
  return sidecar == nullptr ? *none : sidecar->Spec<istio::networking::v1alpha3::Sidecar>().ingress();
}

// Those that view.own_mutual_tls() comes from.
std::vector<config::ConfigPtr> PeerPolicies(mesh::View& view) {
  const auto mesh = view.mesh_peer_authentication(), own = view.peer_authentication(view.client_namespace());
  std::vector<config::ConfigPtr> policies;
  if (mesh != nullptr && mesh->for_all != nullptr) policies.push_back(mesh->for_all);
  if (own == nullptr) return policies;
  if (own != mesh && own->for_all != nullptr) policies.push_back(own->for_all);
  for (const auto& policy : own->selecting) {  // the oldest counts
    if (!view.HasLabels(policy.selector)) continue;
    policies.push_back(policy.policy);
    break;
  }
  return policies;
}

class Collector {
 public:
  Collector(mesh::View& view, const EncodedFragmentsPtr& fragments)
      : view_(view),
        fragments_(fragments),
        policies_(PeerPolicies(view)),
        reserved_(view.proxy_class(), *fragments->traits().settings),
        ingress_(IngressOf(view)),
        not_intercepted_(fragments->traits().interception == model::InterceptionMode::kNone) {}

  std::vector<InboundInputs> Collect() {
    // Without interception the workload itself listens there; a Sidecar must say where the proxy does.
    if (ingress_.empty() ? !not_intercepted_ : MergesIngress()) {
      for (const mesh::ServiceTarget& target : view_.targets()) {
        if (!IsIngress(target.target_port)) AddTarget(target);
      }
    }
    for (const IstioIngressListener& ingress : ingress_) AddIngress(ingress);
    std::vector<InboundInputs> inputs;
    if (!not_intercepted_) {
      inputs.push_back({fragments_, true, {}, policies_});
      AddPassthrough(&inputs.front().ports);
    }
    for (auto& [number, entry] : ports_) {
      if (entry.bind_to_port) {
        inputs.push_back({fragments_, false, {std::move(entry.port)}, policies_});
      } else if (!not_intercepted_) {
        inputs.front().ports.push_back(std::move(entry.port));
      }
    }
    return inputs;
  }

 private:
  struct Entry {
    InboundPort port;
    bool bind_to_port = false;
  };

  bool MergesIngress() const { return fragments_->traits().settings->features.merged_ingress; }
  bool IsIngress(uint32_t port) const {
    return std::any_of(ingress_.begin(), ingress_.end(),
                       [port](const IstioIngressListener& l) { return l.port().number() == port; });
  }

  // Of several services on a port the oldest counts, its protocol too: the first in targets' order.
  void AddTarget(const mesh::ServiceTarget& target) {
    const std::vector<std::string> wildcards = WildcardAddresses(fragments_->traits());
    if (!reserved_.CanListen(wildcards.front(), target.target_port, not_intercepted_, target.port->protocol))
      return;
    InboundPort port;
    port.target = target.target_port;
    port.service_port = target.port->port;
    port.protocol = target.port->protocol;
    port.mode = view_.own_mutual_tls().ForPort(target.target_port);
    port.binds = wildcards;
    port.hostname = target.service->hostname.str();
    port.tcp_stat_prefix = StatPrefix(InboundClusterName(port.target), *target.service, *target.port);
    ports_.try_emplace(target.target_port, Entry{std::move(port), not_intercepted_});
  }

  void AddIngress(const IstioIngressListener& ingress) {
    const model::Protocol protocol = model::ParseProtocol(ingress.port().protocol());
    const uint32_t number = ingress.port().number();
    const bool bind_to_port = ingress.capture_mode() == CaptureMode::DEFAULT
                                  ? not_intercepted_
                                  : ingress.capture_mode() == CaptureMode::NONE;
    if (!reserved_.CanListen(ingress.bind(), number, bind_to_port, protocol, /*virtual_listeners=*/false))
      return;
    const std::string& name = view_.sidecar_object()->name().str();
    const std::string& ns = view_.client_namespace();
    InboundPort port;
    port.target = number;
    port.service_port = number;
    port.protocol = protocol;
    port.mode = view_.own_mutual_tls().ForPort(number);
    port.binds = ingress.bind().empty() ? OwnAddresses() : std::vector<std::string>{ingress.bind()};
    // A Sidecar has no host name: telemetry is given its own.
    model::Service named;
    named.registry = model::Registry::kExternal;
    named.hostname = Interned(StrCat(name, '.', ns));
    model::ServicePort service_port;
    service_port.name = ingress.port().name();
    service_port.port = number;
    port.hostname = named.hostname.str();
    port.tcp_stat_prefix = StatPrefix(InboundClusterName(number), named, service_port);
    port.config_path = StrCat("/apis/networking.istio.io/v1/namespaces/", ns, "/sidecar/", name);
    if (ingress.has_tls() && fragments_->traits().settings->features.ingress_tls) {
      port.tls = std::shared_ptr<const ServerTLSSettings>(view_.sidecar_object(), &ingress.tls());
      port.protocol = AfterTls(protocol);
    }
    ports_.try_emplace(number, Entry{std::move(port), bind_to_port});
  }

  static model::Protocol AfterTls(model::Protocol protocol) {
    if (protocol == model::Protocol::kHttps) return model::Protocol::kHttp;
    return protocol == model::Protocol::kTls ? model::Protocol::kTcp : protocol;
  }

  // What is on no service's port; and ports that PeerAuthentication speaks of though no service has them.
  void AddPassthrough(std::vector<InboundPort>* out) const {
    out->push_back(Passthrough(0));
    for (const auto& [port, mode] : view_.own_mutual_tls().ports) {
      if (!HasOwnChains(port)) out->push_back(Passthrough(port));
    }
  }

  InboundPort Passthrough(uint32_t number) const {
    InboundPort port;
    port.target = number;
    port.mode = view_.own_mutual_tls().ForPort(number);
    port.passthrough = true;
    model::ServicePort service_port;
    service_port.name = "virtualInbound";
    port.tcp_stat_prefix =
        StatPrefix(std::string(kInboundPassthroughCluster), model::Service(), service_port);
    return port;
  }

  bool HasOwnChains(uint32_t port) const {
    if (IsIngress(port)) return true;
    if (!ingress_.empty() && !MergesIngress()) return false;
    const std::vector<mesh::ServiceTarget>& targets = view_.targets();
    return std::any_of(targets.begin(), targets.end(),
                       [port](const mesh::ServiceTarget& target) { return target.target_port == port; });
  }

  // The proxy's own address where it has one that others can reach, else all. Source: Istio's
  // getSidecarInboundBindIPs.
  std::vector<std::string> OwnAddresses() const {
    for (const std::string& address : view_.proxy().ip_addresses) {
      const auto parsed = IpAddress::Parse(address);
      if (parsed && parsed->is_global_unicast()) return {parsed->ToString()};
    }
    return WildcardAddresses(fragments_->traits());
  }

  std::string StatPrefix(const std::string& otherwise, const model::Service& service,
                         const model::ServicePort& port) const {
    const std::string& pattern = fragments_->traits().settings->mesh->inbound_cluster_stat_name();
    return pattern.empty() ? otherwise : FillInboundStatPattern(pattern, service, port);
  }

  mesh::View& view_;
  const EncodedFragmentsPtr& fragments_;
  const std::vector<config::ConfigPtr> policies_;
  const ReservedPorts reserved_;
  const IngressListeners& ingress_;
  const bool not_intercepted_;
  std::map<uint32_t, Entry> ports_;  // by target port
};

}  // namespace

OriginList OriginsOf(const InboundInputs& inputs) {
  OriginList origins = OriginsOf(inputs.fragments);
  for (const config::ConfigPtr& policy : inputs.policies) origins.Add(policy);
  return origins;
}

std::vector<InboundInputs> CollectInbound(mesh::View& view, const EncodedFragmentsPtr& fragments) {
  return Collector(view, fragments).Collect();
}

}  // namespace fairlead::gen::listener
