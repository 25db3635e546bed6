#include "registry/serviceentry/service.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "registry/export_to.h"
#include "registry/traffic_distribution.h"

namespace fairlead::registry {
namespace {

using istio::networking::v1alpha3::ServiceEntry;

model::Resolution ResolutionOf(const ServiceEntry& entry) {
  switch (entry.resolution()) {
    case ServiceEntry::DNS:
      return model::Resolution::kDnsLb;
    case ServiceEntry::DNS_ROUND_ROBIN:
      return model::Resolution::kDnsRoundRobinLb;
    case ServiceEntry::STATIC:
      return model::Resolution::kClientSideLb;
    case ServiceEntry::DYNAMIC_DNS:
      return model::Resolution::kDynamicDns;
    default:
      return model::Resolution::kPassthrough;
  }
}

std::vector<model::ServicePort> PortsOf(const ServiceEntry& entry) {
  std::vector<model::ServicePort> ports;
  for (const auto& port : entry.ports()) {
    model::ServicePort out;
    out.name = port.name();
    out.port = port.number();
    out.protocol = model::ParseProtocol(port.protocol());
    out.target_port = port.target_port();
    ports.push_back(std::move(out));
  }
  return ports;
}

// As a client may use it; nothing where the text is neither an IP nor a range.
std::optional<std::string> UsableAddress(const std::string& text) {
  if (IsIpAddress(text)) return text;
  const std::optional<IpPrefix> range = IpPrefix::Parse(text);
  if (!range) return std::nullopt;
  return range->is_single() ? range->address.ToString() : text;
}

config::Diagnostic BadAddress(const config::ConfigObject& object, int index, std::string_view text) {
  config::Diagnostic diagnostic;
  diagnostic.severity = config::Severity::kWarning;
  diagnostic.code = "bad-address";
  diagnostic.file = object.origin().file.str();
  diagnostic.line = object.origin().line;
  diagnostic.object = config::KeyOf(object);
  diagnostic.path = StrCat("spec.addresses[", index, "]");
  diagnostic.message = StrCat("\"", text, "\" is neither an IP address nor a range of them; it is left out");
  return diagnostic;
}

std::vector<std::string> AddressesOf(const config::ConfigObject& object,
                                     std::vector<config::Diagnostic>* diagnostics) {
  const auto& entry = object.Spec<ServiceEntry>();
  std::vector<std::string> addresses;
  for (int i = 0; i < entry.addresses_size(); ++i) {
    if (std::optional<std::string> address = UsableAddress(entry.addresses(i))) {
      addresses.push_back(*std::move(address));
    } else {
      diagnostics->push_back(BadAddress(object, i, entry.addresses(i)));
    }
  }
  return addresses;
}

// Traffic of a NONE entry goes to whatever address the client chose, so that an allocated one would lead
// nowhere.
bool TakesAllocatedAddresses(const config::ConfigObject& object) {
  const auto& entry = object.Spec<ServiceEntry>();
  const std::string_view wish = LabelOr(object.meta().labels, "networking.istio.io/enable-autoallocate-ip");
  return entry.resolution() != ServiceEntry::NONE && entry.addresses_size() == 0 &&
         !EqualsIgnoreCase(wish, "false");
}

// Of several addresses of one family the last counts.
void SetAllocatedAddresses(const config::ConfigObject& object, model::Service& service) {
  if (object.status() == nullptr || !TakesAllocatedAddresses(object)) return;
  for (const config::ObjectStatus::Address& allocated : object.status()->addresses) {
    if (service.hostname != allocated.host) continue;
    const std::optional<IpAddress> address = IpAddress::Parse(allocated.value);
    if (!address) continue;
    (address->is_v4() ? service.auto_allocated_ipv4 : service.auto_allocated_ipv6) = address->ToString();
  }
}

// With the feature, a service outside of the mesh has a canonical service: that of its labels, else the
// entry. Source: Istio's ensureCanonicalServiceLabels.
LabelMap LabelsOf(const config::ObjectMeta& meta, bool external, const model::Features& features) {
  constexpr std::string_view kName = "service.istio.io/canonical-name";
  constexpr std::string_view kRevision = "service.istio.io/canonical-revision";
  LabelMap labels = meta.labels;
  if (!features.canonical_external || !external) return labels;
  const auto first = [&meta](std::initializer_list<std::string_view> keys, std::string_view fallback) {
    for (const std::string_view key : keys) {
      if (const auto it = meta.labels.find(key); it != meta.labels.end()) return std::string(it->second);
    }
    return std::string(fallback);
  };
  labels[std::string(kName)] = first({kName, "app.kubernetes.io/name", "app"}, meta.name.str());
  labels[std::string(kRevision)] = first({kRevision, "app.kubernetes.io/version", "version"}, "latest");
  return labels;
}

// Everything but host and address, which is the same for all services of the entry.
model::Service Template(const config::ConfigPtr& object, const model::Settings& settings) {
  const auto& entry = object->Spec<ServiceEntry>();
  const config::ObjectMeta& meta = object->meta();
  model::Service service;
  service.registry = model::Registry::kExternal;
  service.ns = meta.ns;
  service.resolution = ResolutionOf(entry);
  service.mesh_external = entry.location() == ServiceEntry::MESH_EXTERNAL;
  service.ports = PortsOf(entry);
  service.visibility =
      ResolveEntryExportTo({entry.export_to().begin(), entry.export_to().end()}, meta.ns.str(), settings);
  service.labels = LabelsOf(meta, service.mesh_external, settings.features);
  service.selector.insert(entry.workload_selector().labels().begin(),
                          entry.workload_selector().labels().end());
  service.service_accounts.assign(entry.subject_alt_names().begin(), entry.subject_alt_names().end());
  std::sort(service.service_accounts.begin(), service.service_accounts.end());
  service.creation_time = meta.creation_time;
  service.source = object;
  service.traffic_distribution = ResolveTrafficDistribution("", meta.annotations, nullptr);
  return service;
}

}  // namespace

std::vector<model::Service> ConvertServiceEntry(const config::ConfigPtr& object,
                                                const model::Settings& settings,
                                                std::vector<config::Diagnostic>* diagnostics) {
  const auto& entry = object->Spec<ServiceEntry>();
  const model::Service common = Template(object, settings);
  const std::vector<std::string> addresses = AddressesOf(*object, diagnostics);
  std::vector<model::Service> services;
  std::set<std::pair<std::string_view, std::string_view>> seen;  // an entry may repeat a host or an address
  for (const std::string& host : entry.hosts()) {
    model::Service service = common;
    service.hostname = host;
    service.name = host;
    if (entry.addresses_size() == 0) {
      SetAllocatedAddresses(*object, service);
      if (seen.emplace(host, "").second) services.push_back(std::move(service));
      continue;
    }
    for (const std::string& address : addresses) {
      if (!seen.emplace(host, address).second) continue;
      service.address = address;
      services.push_back(service);
    }
  }
  return services;
}

}  // namespace fairlead::registry
