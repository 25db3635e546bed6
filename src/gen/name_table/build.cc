#include "gen/name_table/build.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "istio/networking/nds/v1/nds.pb.h"

namespace fairlead::gen {
namespace {

using istio::networking::nds::v1::NameTable;
using NameInfo = NameTable::NameInfo;

std::string_view RegistryName(const model::Service& service) {
  return service.registry == model::Registry::kKubernetes ? "Kubernetes" : "External";
}

// Hosts of multi-cluster services must not take the short names of the cluster's own.
bool HasShortNames(const model::Service& service) {
  return service.registry == model::Registry::kKubernetes &&
         !service.hostname.str().ends_with(".clusterset.local");
}

bool SameOrUnknown(const Interned& a, const Interned& b) { return a.empty() || b.empty() || a == b; }

bool IsUsable(const model::Endpoint& endpoint, const model::Service& service) {
  if (endpoint.addresses.empty() || service.FindPortByName(endpoint.port_name) == nullptr) return false;
  if (endpoint.health != model::Health::kHealthy && !service.publish_not_ready_addresses) return false;
  for (const Interned& address : endpoint.addresses) {
    if (!IsIpAddress(address)) return false;
  }
  return true;
}

// The addresses of one pod name: those in the client's cluster where there are any.
struct PodAddresses {
  std::string short_name;  // "mysql-0.mysql"
  std::vector<Interned> local, remote;
};

// What the endpoints of one service add to the table.
class EndpointNames {
 public:
  EndpointNames(const NameTableInputs::Entry& entry, const NameTableClient& client)
      : service_(*entry.service), client_(client) {
    if (entry.endpoints == nullptr || service_.ports.empty()) return;
    StringSet seen;
    for (const model::EndpointShard& shard : entry.endpoints->shards) {
      for (const model::Endpoint& endpoint : shard.endpoints) {
        if (!IsUsable(endpoint, service_) || !seen.insert(endpoint.addresses.front().str()).second) continue;
        // No gateway leads to one endpoint of another network.
        if (!SameOrUnknown(endpoint.workload->network, client_.network)) continue;
        AddPod(endpoint);
        if (!client_.headless_of_all_clusters && !SameOrUnknown(endpoint.workload->cluster, client_.cluster))
          continue;
        addresses_.insert(addresses_.end(), endpoint.addresses.begin(), endpoint.addresses.end());
      }
    }
  }

  const std::vector<Interned>& addresses() const { return addresses_; }

  void WritePods(NameTable* out) const {
    for (const auto& [host, pod] : pods_) {
      NameInfo info;
      for (const Interned& address : pod.local.empty() ? pod.remote : pod.local) info.add_ips(address.str());
      info.set_registry(std::string(RegistryName(service_)));
      info.set_namespace_(service_.ns.str());
      info.set_shortname(pod.short_name);
      (*out->mutable_table())[host] = std::move(info);
    }
  }

 private:
  // As Kubernetes names pods of a stateful set: "mysql-0.mysql.default.svc.cluster.local".
  void AddPod(const model::Endpoint& endpoint) {
    const std::string_view host = service_.hostname;
    const size_t dot = host.find('.');
    const model::Workload& workload = *endpoint.workload;
    if (workload.subdomain.empty() || dot == std::string_view::npos) return;
    const std::string short_name = StrCat(workload.hostname.str(), ".", workload.subdomain.str());
    PodAddresses& pod = pods_[StrCat(short_name, host.substr(dot))];
    pod.short_name = short_name;
    auto& addresses = SameOrUnknown(workload.cluster, client_.cluster) ? pod.local : pod.remote;
    addresses.insert(addresses.end(), endpoint.addresses.begin(), endpoint.addresses.end());
  }

  const model::Service& service_;
  const NameTableClient& client_;
  std::vector<Interned> addresses_;
  std::map<std::string, PodAddresses> pods_;  // by full name
};

void Describe(const model::Service& service, NameInfo* out) {
  out->set_registry(std::string(RegistryName(service)));
  if (!HasShortNames(service)) return;
  out->set_namespace_(service.ns.str());
  out->set_shortname(service.name);
}

// ServiceEntries of one host unite their addresses; a Kubernetes service has its host for itself.
void WriteService(const model::Service& service, const std::vector<Interned>& addresses, NameTable* out) {
  if (addresses.empty()) return;
  const bool known = out->table().contains(service.hostname.str());
  NameInfo& info = (*out->mutable_table())[service.hostname.str()];
  if (known && info.registry() == "Kubernetes") return;
  if (!known) {
    Describe(service, &info);
  } else if (service.registry == model::Registry::kKubernetes) {
    info.clear_ips();
    Describe(service, &info);
  }
  for (const Interned& address : addresses) info.add_ips(address.str());
}

}  // namespace

void BuildNameTable(const NameTableInputs& inputs, NameTable* out) {
  for (const NameTableInputs::Entry& entry : inputs.services) {
    std::vector<Interned> addresses;
    bool unspecified = false;
    for (const std::string& address : model::AllAddresses(*entry.service, inputs.client.addresses)) {
      unspecified |= address == model::kUnspecifiedAddress;
      // Ranges are addresses too, but no answer to a question for a name.
      if (!unspecified && IsIpAddress(address)) addresses.emplace_back(address);
    }
    if (unspecified) {
      const EndpointNames names(entry, inputs.client);
      names.WritePods(out);
      addresses = names.addresses();
    }
    WriteService(*entry.service, addresses, out);
  }
}

}  // namespace fairlead::gen
