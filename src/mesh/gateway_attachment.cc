#include <algorithm>
#include <string>

#include "base/strings.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "mesh/merged_gateway.h"

namespace fairlead::mesh {
namespace {

using config::ConfigPtr;

// Annotations of Gateways that were made from Gateway API objects: the hostnames of the services that carry
// it (separated by commas), the namespace of those services, where it came from, and the account of a
// deployment that was made for it.
constexpr std::string_view kServiceAnnotation = "internal.istio.io/gateway-service";
constexpr std::string_view kParentNamespaceAnnotation = "internal.istio.io/parent-namespace";
constexpr std::string_view kSemanticsAnnotation = "internal.istio.io/gateway-semantics";
constexpr std::string_view kAccountAnnotation = "internal.istio.io/service-account-name";

bool SelectorTakes(const istio::networking::v1alpha3::Gateway& gateway, const LabelMap& labels) {
  return std::all_of(gateway.selector().begin(), gateway.selector().end(), [&labels](const auto& label) {
    auto it = labels.find(label.first);
    return it != labels.end() && it->second == label.second;
  });
}

// The targets whose services an annotation names.
std::vector<ServiceTarget> NamedTargets(const ConfigPtr& gateway, std::string_view hostnames,
                                        const std::vector<ServiceTarget>& targets) {
  const std::vector<std::string_view> named = Split(hostnames, ',');
  const LabelMap& annotations = gateway->meta().annotations;
  std::string_view ns = LabelOr(annotations, kParentNamespaceAnnotation);
  if (ns.empty()) ns = gateway->ns();
  std::vector<ServiceTarget> matching;
  for (const ServiceTarget& target : targets) {
    const std::string_view hostname = target.service->hostname;
    if (target.service->ns == ns && std::find(named.begin(), named.end(), hostname) != named.end()) {
      matching.push_back(target);
    }
  }
  return matching;
}

bool FromGatewayApi(const ConfigPtr& gateway) {
  return LabelOr(gateway->meta().annotations, kSemanticsAnnotation) == "gateway";
}

// A router that was deployed for a Gateway API object takes Gateways of Istio's own kind from that object's
// namespace only, so that nobody elsewhere gets at its credentials.
void KeepToManagedNamespaces(std::vector<GatewayAttachment>* attachments) {
  std::set<std::string_view> managed;
  for (const GatewayAttachment& attachment : *attachments) {
    const ConfigPtr& gateway = attachment.gateway;
    if (FromGatewayApi(gateway) && !LabelOr(gateway->meta().annotations, kAccountAnnotation).empty()) {
      managed.insert(gateway->ns());
    }
  }
  if (managed.empty()) return;
  std::erase_if(*attachments, [&managed](const GatewayAttachment& attachment) {
    return !FromGatewayApi(attachment.gateway) && !managed.contains(attachment.gateway->ns());
  });
}

}  // namespace

std::vector<GatewayAttachment> AttachGateways(const std::vector<ConfigPtr>& gateways, const LabelMap& labels,
                                              const std::vector<ServiceTarget>& targets) {
  std::vector<GatewayAttachment> attachments;
  for (const ConfigPtr& gateway : gateways) {
    const LabelMap& annotations = gateway->meta().annotations;
    if (auto named = annotations.find(kServiceAnnotation); named != annotations.end()) {
      std::vector<ServiceTarget> matching = NamedTargets(gateway, named->second, targets);
      if (!matching.empty()) attachments.push_back({gateway, false, std::move(matching)});
    } else if (SelectorTakes(gateway->Spec<istio::networking::v1alpha3::Gateway>(), labels)) {
      attachments.push_back({gateway, true, targets});
    }
  }
  KeepToManagedNamespaces(&attachments);
  return attachments;
}

}  // namespace fairlead::mesh
