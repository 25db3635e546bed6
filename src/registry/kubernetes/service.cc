#include "registry/kubernetes/service.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "model/spiffe.h"
#include "registry/export_to.h"
#include "registry/traffic_distribution.h"

namespace fairlead::registry {
namespace {

using config::ServiceSpec;

constexpr std::string_view kNoClusterIp = "None";

constexpr std::string_view kExportToAnnotation = "networking.istio.io/exportTo";

// The pieces of a comma-separated annotation; none where it is empty.
std::vector<std::string_view> AnnotationList(const LabelMap& annotations, std::string_view key) {
  const std::string_view value = LabelOr(annotations, key);
  return value.empty() ? std::vector<std::string_view>() : Split(value, ',');
}

void SetAddresses(const ServiceSpec& spec, model::Service& service) {
  if (spec.cluster_ip == kNoClusterIp) {
    service.resolution = model::Resolution::kPassthrough;
  } else if (!spec.cluster_ip.empty()) {
    service.address = spec.cluster_ip;
    if (spec.cluster_ips.size() > 1) service.cluster_vips = spec.cluster_ips;
  }
  if (service.cluster_vips.empty()) {
    service.cluster_vips = {service.address};
  } else {
    service.address = service.cluster_vips.front();
  }
}

void SetPorts(const ServiceSpec& spec, bool node_port_gateway, model::Service& service) {
  for (const config::ServicePortSpec& port : spec.ports) {
    model::ServicePort out;
    out.name = port.name;
    out.port = port.port;
    out.protocol = model::KubernetesPortProtocol(port.port, port.name, port.protocol, port.app_protocol);
    out.target_port = port.target_port.name.empty() ? port.target_port.number : 0;
    out.target_port_name = port.target_port.name;
    out.node_port = port.node_port;
    if (node_port_gateway) service.node_ports[out.port] = out.node_port;
    service.ports.push_back(std::move(out));
  }
}

// Identities that annotations add to those of the endpoints.
void SetServiceAccounts(const config::ObjectMeta& meta, std::string_view trust_domain,
                        model::Service& service) {
  for (std::string_view id : AnnotationList(meta.annotations, "alpha.istio.io/canonical-serviceaccounts")) {
    service.service_accounts.emplace_back(id);
  }
  for (std::string_view account :
       AnnotationList(meta.annotations, "alpha.istio.io/kubernetes-serviceaccounts")) {
    service.service_accounts.push_back(model::SpiffeId(trust_domain, meta.ns.str(), account));
  }
  std::sort(service.service_accounts.begin(), service.service_accounts.end());
}

void SetExternalAddresses(const ServiceSpec& spec, model::Service& service) {
  if (spec.type == "LoadBalancer") {
    for (const config::LoadBalancerIngress& ingress : spec.load_balancer_ingress) {
      const std::string& address = ingress.ip.empty() ? ingress.hostname : ingress.ip;
      if (!address.empty()) service.external_addresses.push_back(address);
    }
  }
  service.external_addresses.insert(service.external_addresses.end(), spec.external_ips.begin(),
                                    spec.external_ips.end());
}

model::Visibility VisibilityOf(const config::ObjectMeta& meta, const model::Settings& settings) {
  std::vector<std::string> export_to;
  for (std::string_view target : AnnotationList(meta.annotations, kExportToAnnotation)) {
    export_to.emplace_back(Trim(target));
  }
  return ResolveServiceExportTo(export_to, meta.ns.str(), settings);
}

// A Service that does not say its age counts as older than all that do, as with istiod: no ServiceEntry comes
// before it.
int64_t TimeOf(const config::ObjectMeta& meta) {
  using Limits = std::numeric_limits<int64_t>;
  return meta.creation_time == Limits::max() ? Limits::min() : meta.creation_time;
}

}  // namespace

bool HidesItself(const model::Service& service) {
  return service.visibility == model::Visibility{false, {}} && service.source != nullptr &&
         !LabelOr(service.source->meta().annotations, kExportToAnnotation).empty();
}

std::string KubernetesHostname(std::string_view name, std::string_view ns, std::string_view domain) {
  return StrCat(name, ".", ns, ".svc.", domain);
}

model::Service ConvertKubernetesService(const config::ConfigPtr& object,
                                        const LabelMap* namespace_annotations,
                                        const model::Settings& settings) {
  const ServiceSpec& spec = object->Spec<ServiceSpec>();
  const config::ObjectMeta& meta = object->meta();
  model::Service service;
  service.registry = model::Registry::kKubernetes;
  service.hostname = KubernetesHostname(meta.name.str(), meta.ns.str(), settings.domain);
  service.name = meta.name.str();
  service.ns = meta.ns;
  service.type = spec.type;
  if (spec.type == "ExternalName" && !spec.external_name.empty()) {
    service.external_name = spec.external_name;
    service.resolution = model::Resolution::kAlias;
    service.mesh_external = true;
  }
  SetAddresses(spec, service);
  SetPorts(spec, spec.type == "NodePort" && meta.annotations.contains(kNodeSelectorAnnotation), service);
  SetServiceAccounts(meta, settings.trust_domain, service);
  SetExternalAddresses(spec, service);
  service.visibility = VisibilityOf(meta, settings);
  service.labels = meta.labels;
  service.selector = spec.selector;
  service.creation_time = TimeOf(meta);
  service.source = object;
  service.node_local = spec.internal_traffic_policy == "Local";
  service.traffic_distribution =
      ResolveTrafficDistribution(spec.traffic_distribution, meta.annotations, namespace_annotations);
  service.publish_not_ready_addresses = spec.publish_not_ready_addresses;
  service.session_affinity = spec.session_affinity;
  return service;
}

}  // namespace fairlead::registry
