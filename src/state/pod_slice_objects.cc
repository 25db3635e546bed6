#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "config/content_hash.h"
#include "config/kubernetes_types.h"
#include "state/pod_slices.h"

namespace fairlead::state {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::PodSpec;
using config::ServiceSpec;

// How many Pods a message names.
constexpr size_t kNamed = 3;

std::string_view FamilyOf(std::string_view address) {
  return address.find(':') == std::string_view::npos ? "IPv4" : "IPv6";
}

// Of the addresses that a Service's endpoints have; empty: of each Pod its first address.
std::vector<std::string> FamiliesOf(const ServiceSpec& service) {
  if (!service.ip_families.empty()) return service.ip_families;
  std::vector<std::string> families;
  for (const std::string& address : service.cluster_ips) {
    if (IsIpAddress(address)) families.emplace_back(FamilyOf(address));
  }
  return families;
}

// At most one of each family.
std::vector<std::string> AddressesOf(const PodSpec& pod, const std::vector<std::string>& families) {
  std::vector<std::string> all = pod.pod_ips;
  if (all.empty() && !pod.pod_ip.empty()) all.push_back(pod.pod_ip);
  if (families.empty()) {
    if (all.size() > 1) all.resize(1);
    return all;
  }
  std::vector<std::string> wanted;
  for (const std::string& family : families) {
    for (const std::string& address : all) {
      if (FamilyOf(address) != family) continue;
      wanted.push_back(address);
      break;
    }
  }
  return wanted;
}

bool HasEnded(const PodSpec& pod) { return pod.phase == "Failed" || pod.phase == "Succeeded"; }

std::optional<int> NumberOf(const config::ServicePortSpec& port, const PodSpec& pod) {
  const config::PortReference& target = port.target_port;
  if (target.name.empty()) return target.number != 0 ? target.number : port.port;
  for (const config::ContainerPortSpec& one : pod.ports) {
    if (one.name == target.name && one.protocol == port.protocol) return one.container_port;
  }
  return std::nullopt;
}

config::SliceEndpoint EndpointOf(const ConfigObject& pod, const std::string& address,
                                 const ConfigObject& service) {
  const auto& spec = pod.Spec<PodSpec>();
  const auto& of = service.Spec<ServiceSpec>();
  config::SliceEndpoint endpoint;
  endpoint.addresses = {Interned(address)};
  endpoint.ready = of.publish_not_ready_addresses || (spec.ready && !pod.meta().deleting);
  endpoint.serving = spec.ready;
  endpoint.terminating = pod.meta().deleting;
  endpoint.node_name = spec.node_name;
  if (service.name() == spec.subdomain) endpoint.hostname = spec.hostname;
  endpoint.target = config::TargetReference{"Pod", pod.ns().str(), pod.name().str()};
  return endpoint;
}

class Maker {
 public:
  explicit Maker(const ConfigObject& service)
      : service_(service), spec_(service.Spec<ServiceSpec>()), families_(FamiliesOf(spec_)) {}

  void Add(const ConfigObject& pod) {
    const auto& spec = pod.Spec<PodSpec>();
    if (HasEnded(spec)) return;
    ++picked_;
    if (!spec.has_containers) return Leave(pod, "no containers");
    const std::vector<std::string> addresses = AddressesOf(spec, families_);
    const bool ready = spec_.publish_not_ready_addresses || (spec.ready && !pod.meta().deleting);
    if (addresses.empty()) {
      Leave(pod, spec.pod_ip.empty() ? "no address" : "no address of the Service's family");
    } else if (!ready) {
      Leave(pod, pod.meta().deleting ? "about to go" : "not ready");
    }
    for (const std::string& address : addresses) {
      config::EndpointSliceSpec& slice = SliceFor(FamilyOf(address), spec);
      slice.endpoints.push_back(EndpointOf(pod, address, service_));
    }
  }

  PodSlices Take() {
    PodSlices out;
    out.problem = Problem();
    for (auto& [key, slice] : slices_) out.slices.push_back(Object(std::move(slice), out.slices.size()));
    return out;
  }

 private:
  using Numbers = std::vector<std::optional<int>>;  // of the Service's ports, one each

  void Leave(const ConfigObject& pod, std::string_view why) {
    ++left_;
    if (left_ <= kNamed) StrAppend(&names_, names_.empty() ? "" : ", ", pod.name().str(), " (", why, ")");
    if (left_ == kNamed + 1) names_ += ", …";
  }

  config::EndpointSliceSpec& SliceFor(std::string_view family, const PodSpec& pod) {
    Numbers numbers;
    for (const config::ServicePortSpec& port : spec_.ports) numbers.push_back(NumberOf(port, pod));
    const auto [at, is_new] = slices_.try_emplace({std::string(family), numbers});
    if (is_new) {
      at->second.address_type = family;
      for (size_t i = 0; i < numbers.size(); ++i) {
        const config::ServicePortSpec& port = spec_.ports[i];
        if (numbers[i]) at->second.ports.push_back({port.name, port.protocol, numbers[i], port.app_protocol});
      }
    }
    return at->second;
  }

  ConfigPtr Object(config::EndpointSliceSpec slice, size_t number) const {
    config::ObjectMeta meta;
    meta.ns = service_.ns();
    meta.name = PodSliceName(service_.name().str(), number);
    meta.labels["kubernetes.io/service-name"] = service_.name().str();
    meta.creation_time = service_.meta().creation_time;
    config::ContentHash hash;
    hash.Add(static_cast<uint8_t>(config::Kind::kEndpointSlice)).Add(meta).Add(slice);
    return std::make_shared<const ConfigObject>(
        config::Kind::kEndpointSlice, std::move(meta), service_.origin(),
        std::make_shared<const config::EndpointSliceSpec>(std::move(slice)), hash.value());
  }

  std::optional<config::Diagnostic> Problem() const {
    if (picked_ == 0) return std::nullopt;
    if (left_ == picked_) {
      return Warning("spec.selector", StrCat(picked_, picked_ == 1 ? " Pod matches" : " Pods match",
                                             " the selector and none can be called: ", names_));
    }
    for (size_t i = 0; i < spec_.ports.size(); ++i) {
      bool known = false;
      for (const auto& [key, slice] : slices_) known = known || key.second[i].has_value();
      if (known) continue;
      return Warning(StrCat("spec.ports[", i, "].targetPort"),
                     StrCat("no container of the Pods that match the selector has a port \"",
                            spec_.ports[i].target_port.name, "\" of ", spec_.ports[i].protocol));
    }
    return std::nullopt;
  }

  config::Diagnostic Warning(std::string path, std::string message) const {
    config::Diagnostic warning;
    warning.severity = config::Severity::kWarning;
    warning.code = "no-endpoints";
    warning.file = service_.origin().file.str();
    warning.line = service_.origin().line;
    warning.object = KeyOf(service_);
    warning.path = std::move(path);
    warning.message = std::move(message);
    return warning;
  }

  const ConfigObject& service_;
  const ServiceSpec& spec_;
  const std::vector<std::string> families_;
  std::map<std::pair<std::string, Numbers>, config::EndpointSliceSpec> slices_;
  size_t picked_ = 0, left_ = 0;
  std::string names_;  // of some Pods that are left
};

}  // namespace

bool WantsSlices(const ConfigObject& service) {
  const auto& spec = service.Spec<ServiceSpec>();
  return !spec.selector.empty() && spec.type != "ExternalName";
}

std::string PodSliceName(std::string_view service, size_t number) {
  return StrCat(service, "~pods", number == 0 ? "" : StrCat("-", number + 1));
}

PodSlices MakePodSlices(const ConfigObject& service, const std::vector<ConfigPtr>& pods) {
  Maker maker(service);
  for (const ConfigPtr& pod : pods) maker.Add(*pod);
  return maker.Take();
}

}  // namespace fairlead::state
