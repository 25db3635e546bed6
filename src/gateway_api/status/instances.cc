#include "gateway_api/status/instances.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "model/service_addresses.h"

namespace fairlead::gateway_api {
namespace {

constexpr std::string_view kProgrammed = "Programmed";
constexpr std::string_view kManagedLabel = "gateway.istio.io/managed";

std::string Quoted(std::string_view text) { return StrCat("\"", text, "\""); }

// "a", "a and b", "a, b, and c".
std::string ReadableList(const std::vector<std::string>& texts) {
  if (texts.size() <= 2) return Join(texts, " and ");
  const std::vector<std::string> most(texts.begin(), texts.end() - 1);
  return StrCat(Join(most, ", "), ", and ", texts.back());
}

std::vector<std::string> Sorted(const std::set<std::string>& texts) { return {texts.begin(), texts.end()}; }

class Resolver {
 public:
  explicit Resolver(const Interned& ns) : ns_(ns) {}

  void Add(const InstanceHost& host, const std::set<InstancePort>& ports) {
    static const auto* const none = new mesh::ServiceIndex::Services();
    const auto& services = host.services == nullptr ? *none : *host.services;
    const auto own = std::find_if(services.begin(), services.end(),
                                  [this](const model::ServicePtr& service) { return service->ns == ns_; });
    if (own == services.end()) return AddMissing(host.hostname, services);
    for (const InstancePort& port : ports) {
      if (HasEndpoints(**own, host.endpoints.get(), port)) {
        AddFound(host.hostname, **own, port.number);
      } else {
        AddPortWithout(host.hostname, **own, host.endpoints.get(), port);
      }
    }
  }

  GatewayInstances Take() {
    std::sort(out_.warnings.begin(), out_.warnings.end());
    out_.internal = Sorted(internal_);
    out_.internal_ips = Sorted(internal_ips_);
    out_.external = Sorted(external_);
    out_.pending = Sorted(pending_);
    return std::move(out_);
  }

 private:
  void AddMissing(const std::string& host, const mesh::ServiceIndex::Services& services) {
    out_.all_usable = false;
    std::vector<std::string> others;
    for (const model::ServicePtr& service : services) others.push_back(Quoted(service->ns.str()));
    std::sort(others.begin(), others.end());
    std::string warning = StrCat("hostname ", Quoted(host), " not found");
    if (!others.empty()) {
      StrAppend(&warning, " in namespace ", Quoted(ns_.str()), ", but it was found in namespace(s) ",
                Join(others, ", "));
    }
    out_.warnings.push_back(std::move(warning));
  }

  static bool Serves(const model::Endpoint& endpoint, const model::ServicePort& port) {
    return endpoint.service_port != 0 ? endpoint.service_port == port.port
                                      : std::string_view(endpoint.port_name) == port.name;
  }

  template <typename Visit>
  static void ForEachEndpoint(const model::ServiceEndpoints* endpoints, Visit&& visit) {
    if (endpoints == nullptr) return;
    for (const model::EndpointShard& shard : endpoints->shards) {
      for (const model::Endpoint& endpoint : shard.endpoints) visit(endpoint);
    }
  }

  static bool HasEndpoints(const model::Service& service, const model::ServiceEndpoints* endpoints,
                           const InstancePort& wanted) {
    bool found = false;
    for (const model::ServicePort& port : service.ports) {
      if (port.port != wanted.number || (wanted.udp && port.protocol != model::Protocol::kUdp)) continue;
      ForEachEndpoint(endpoints, [&](const model::Endpoint& one) { found = found || Serves(one, port); });
    }
    return found;
  }

  void AddFound(const std::string& host, const model::Service& service, int64_t port) {
    internal_.insert(StrCat(host, ":", port));
    const model::AddressView view{.ipv4 = true, .ipv6 = true, .own_cluster = true, .auto_allocated = false};
    for (std::string& address : model::AllAddresses(service, view)) internal_ips_.insert(std::move(address));
    if (!service.external_addresses.empty()) {
      external_.insert(service.external_addresses.begin(), service.external_addresses.end());
    } else if (service.type == "LoadBalancer" && pending_.insert(host).second) {
      out_.warnings.push_back(StrCat("address pending for hostname ", Quoted(host)));
    }
  }

  // Ports of the service whose endpoints listen on the number: what the user may have meant.
  static std::set<std::string> PortsThatLeadTo(const model::Service& service,
                                               const model::ServiceEndpoints* endpoints, int64_t number) {
    std::set<std::string> ports;
    ForEachEndpoint(endpoints, [&](const model::Endpoint& endpoint) {
      if (endpoint.port != number) return;
      for (const model::ServicePort& port : service.ports) {
        if (Serves(endpoint, port)) ports.insert(StrCat(port.port));
      }
    });
    return ports;
  }

  static bool HasAny(const model::Service& service, const model::ServiceEndpoints* endpoints) {
    return std::any_of(service.ports.begin(), service.ports.end(), [&](const model::ServicePort& port) {
      return HasEndpoints(service, endpoints, {.number = port.port});
    });
  }

  void AddPortWithout(const std::string& host, const model::Service& service,
                      const model::ServiceEndpoints* endpoints, const InstancePort& wanted) {
    if (!HasAny(service, endpoints)) {
      out_.warnings.push_back(StrCat("no instances found for hostname ", Quoted(host)));
      return;
    }
    const int64_t port = wanted.number;
    std::string warning =
        StrCat("port ", port, wanted.udp ? " of UDP" : "", " not found for hostname ", Quoted(host));
    const std::set<std::string> hints = PortsThatLeadTo(service, endpoints, port);
    if (!hints.empty()) {
      StrAppend(&warning,
                " (hint: the service port should be specified, not the workload port. Did you mean one of "
                "these ports: [",
                Join(hints, " "), "]?)");
    } else if (service.labels.contains(kManagedLabel) &&
               service.FindPort(static_cast<uint32_t>(port)) != nullptr) {
      return;  // endpoints of a Service that Istio made will come
    }
    out_.warnings.push_back(std::move(warning));
    out_.all_usable = false;
  }

  const Interned ns_;
  GatewayInstances out_;
  std::set<std::string> internal_, internal_ips_, external_, pending_;
};

}  // namespace

GatewayInstances ResolveInstances(const std::vector<InstanceHost>& hosts, const Interned& ns,
                                  const std::set<InstancePort>& ports) {
  Resolver resolver(ns);
  for (const InstanceHost& host : hosts) resolver.Add(host, ports);
  return resolver.Take();
}

void SetProgrammed(const GatewayInstances& instances, const std::vector<std::string>& services,
                   DraftConditions* conditions) {
  const std::string assigned = ReadableList(instances.internal);
  conditions->Set(kProgrammed, kProgrammed,
                  assigned.empty() ? "Resource programmed"
                                   : StrCat("Resource programmed, assigned to service(s) ", assigned));
  if (services.empty()) {
    conditions->Fail(kProgrammed, {"UnsupportedAddress", "Failed to assign to any requested addresses"});
    return;
  }
  if (instances.warnings.empty()) return;
  const std::string begin = assigned.empty() ? "Failed to assign to any requested addresses: "
                                             : StrCat("Assigned to service(s) ", assigned,
                                                      ", but failed to assign to all requested addresses: ");
  conditions->Fail(kProgrammed, {instances.all_usable ? "AddressNotAssigned" : "AddressNotUsable",
                                 begin + Join(instances.warnings, "; ")});
}

}  // namespace fairlead::gateway_api
