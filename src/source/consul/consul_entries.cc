#include "source/consul/consul_entries.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "config/check/names.h"
#include "config/content_hash.h"
#include "config/protocol.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"
#include "proto/messages.h"

namespace fairlead::source {
namespace {

using istio::networking::v1alpha3::ServiceEntry;
using istio::networking::v1alpha3::WorkloadEntry;

constexpr size_t kMostLabels = 64;
constexpr char kRegistryLabel[] = "fairlead.dev/registry";
constexpr char kApiVersion[] = "networking.istio.io/v1";

// An instance that counts, and where it is reached.
struct Place {
  const ConsulInstance* instance;
  std::string address;
  uint32_t port;
  uint32_t weight;
  LabelMap labels;
};

bool IsReady(ConsulReady ready, const ConsulInstance& instance) {
  switch (ready) {
    case ConsulReady::kPassing:
      return instance.health == ConsulHealth::kPassing;
    case ConsulReady::kWarning:
      return instance.health <= ConsulHealth::kWarning;
    case ConsulReady::kAny:
      return instance.health != ConsulHealth::kMaintenance;
  }
  return false;
}

std::pair<std::string, int> AddressOf(const ConsulInstance& instance, const std::string& wanted) {
  const auto it = wanted.empty() ? instance.tagged.end() : instance.tagged.find(wanted);
  return it == instance.tagged.end() ? std::pair(instance.address, instance.port) : it->second;
}

// A tag "k=v" or "k|v".
std::optional<std::pair<std::string_view, std::string_view>> PairOf(std::string_view tag) {
  const size_t at = tag.find_first_of("=|");
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  return std::pair(tag.substr(0, at), tag.substr(at + 1));
}

std::string_view TagOrMeta(const ConsulInstance& instance, std::string_view name) {
  if (const auto it = instance.meta.find(name); it != instance.meta.end()) return it->second;
  for (const std::string& tag : instance.tags) {
    const auto pair = PairOf(tag);
    if (pair && pair->first == name) return pair->second;
  }
  return "";
}

class Maker {
 public:
  Maker(const ConsulOptions& options, const ConsulService& service) : options_(options), service_(service) {
    origin_.file = StrCat(options.url.Name(), "/v1/health/service/", service.name);
    origin_.api_version = kApiVersion;
  }

  PlatformPart Make() {
    Collect();
    if (places_.empty()) return std::move(part_);
    std::map<std::string, std::vector<Place>> datacenters;
    for (const Place& place : places_) datacenters[place.instance->datacenter].push_back(place);
    for (const std::string& name : options_.platform.names) {
      if (name.find("{dc}") == std::string::npos) {
        Add(name, "", places_);
        continue;
      }
      for (const auto& [datacenter, places] : datacenters) Add(name, datacenter, places);
    }
    return std::move(part_);
  }

 private:
  void Collect();
  void Add(const std::string& name, const std::string& datacenter, const std::vector<Place>& places);
  void AddEndpoints(const std::vector<Place>& places, ServiceEntry* entry) const;
  void AddEndpoint(const Place& place, const std::string& port_name, ServiceEntry* entry) const;
  void Warn(std::string code, std::string message);
  std::string Protocol(const std::vector<Place>& places);
  uint32_t Port(const std::vector<Place>& places);

  const ConsulOptions& options_;
  const ConsulService& service_;
  config::Origin origin_;
  std::vector<Place> places_;
  PlatformPart part_;
  std::set<std::string> said_;
};

void Maker::Warn(std::string code, std::string message) {
  if (!said_.insert(StrCat(code, message)).second) return;
  config::Diagnostic& diagnostic = part_.diagnostics.emplace_back();
  diagnostic.severity = config::Severity::kWarning;
  diagnostic.code = std::move(code);
  diagnostic.file = origin_.file.str();
  diagnostic.message = StrCat("service ", service_.name, " of Consul: ", message);
}

// In the order of datacenter, node and id, whatever the order of the answers.
void Maker::Collect() {
  size_t portless = 0;
  for (const auto& [asked, instances] : service_.instances) {
    for (const ConsulInstance& instance : instances) {
      if (!instance.kind.empty() || !IsReady(options_.ready, instance)) continue;
      const bool warning = instance.health == ConsulHealth::kWarning;
      const uint32_t weight = warning ? instance.warning_weight : instance.passing_weight;
      if (weight == 0) continue;
      LabelMap labels = LabelsOf(instance, options_.plain_tags);
      if (!options_.platform.selector.Matches(labels)) continue;
      auto [address, port] = AddressOf(instance, options_.address);
      if (port == 0) {
        ++portless;
        continue;
      }
      if (!IsIpAddress(address) && !config::check::DomainProblem(address).empty()) {
        Warn("invalid-address", StrCat("instance ", instance.id, " of node ", instance.node, " has \"",
                                       address, "\", no address and no host name, and is left out"));
        continue;
      }
      places_.push_back(
          {&instance, std::move(address), static_cast<uint32_t>(port), weight, std::move(labels)});
    }
  }
  if (portless > 0) Warn("no-port", StrCat(portless, " of its instances have no port and are left out"));
}

// Where instances differ, the one of the first counts for all.
std::string Maker::Protocol(const std::vector<Place>& places) {
  std::string protocol;
  for (const Place& place : places) {
    const std::string_view said = TagOrMeta(*place.instance, "protocol");
    if (said.empty() || EqualsIgnoreCase(said, protocol)) continue;
    if (!config::check::ProtocolProblem(AsciiUpper(said)).empty()) {
      Warn("unknown-protocol", StrCat("protocol \"", said, "\" is not known: counts as TCP"));
    } else if (!protocol.empty()) {
      Warn("several-protocols", StrCat("its instances have the protocols ", protocol, " and ",
                                       AsciiLower(said), ": ", protocol, " counts"));
    } else {
      protocol = AsciiLower(said);
    }
  }
  if (protocol.empty() && config::check::ProtocolProblem(AsciiUpper(service_.protocol)).empty())
    protocol = AsciiLower(service_.protocol);
  return protocol.empty() ? "tcp" : protocol;
}

uint32_t Maker::Port(const std::vector<Place>& places) {
  for (const Place& place : places) {
    const std::string_view said = TagOrMeta(*place.instance, "service-port");
    if (said.empty()) continue;
    uint32_t port = 0;
    const auto [rest, error] = std::from_chars(said.data(), said.data() + said.size(), port);
    if (error == std::errc() && rest == said.data() + said.size() && port >= 1 && port <= 65'535) return port;
    Warn("invalid-port", StrCat("service-port \"", said, "\" is no port"));
  }
  const auto [least, most] = std::minmax_element(
      places.begin(), places.end(), [](const Place& a, const Place& b) { return a.port < b.port; });
  return least->port != most->port && options_.port != 0 ? options_.port : least->port;
}

void Maker::AddEndpoint(const Place& place, const std::string& port_name, ServiceEntry* entry) const {
  const ConsulInstance& instance = *place.instance;
  WorkloadEntry& endpoint = *entry->add_endpoints();
  endpoint.set_address(place.address);
  (*endpoint.mutable_ports())[port_name] = place.port;
  for (const auto& [key, value] : place.labels) (*endpoint.mutable_labels())[key] = value;
  const std::string& region = instance.region.empty() ? instance.datacenter : instance.region;
  endpoint.set_locality(instance.zone.empty() ? region : StrCat(region, "/", instance.zone));
  endpoint.set_network(ExpandTemplate(options_.network, {{"dc", instance.datacenter}}));
  endpoint.set_weight(place.weight);
}

// Endpoints of host names are looked up by the proxies. A virtual address counts where all agree in it.
void Maker::AddEndpoints(const std::vector<Place>& places, ServiceEntry* entry) const {
  bool addresses_only = true, external = true;
  std::set<std::string> virtual_addresses;
  for (const Place& place : places) {
    AddEndpoint(place, entry->ports(0).name(), entry);
    addresses_only = addresses_only && IsIpAddress(place.address);
    external = external && LabelOr(place.instance->node_meta, "external-node") == "true";
    for (const char* tag : {"virtual", "consul-virtual"}) {
      const auto it = place.instance->tagged.find(tag);
      if (it == place.instance->tagged.end() || !IsIpAddress(it->second.first)) continue;
      virtual_addresses.insert(it->second.first);
      break;
    }
  }
  if (virtual_addresses.size() == 1) entry->add_addresses(*virtual_addresses.begin());
  entry->set_resolution(addresses_only ? ServiceEntry::STATIC : ServiceEntry::DNS);
  entry->set_location(external ? ServiceEntry::MESH_EXTERNAL : ServiceEntry::MESH_INTERNAL);
}

// Hosts of one entry could not be told apart where its port is TCP: an entry for each.
void Maker::Add(const std::string& name, const std::string& datacenter, const std::vector<Place>& places) {
  const std::string host =
      ExpandTemplate(name, {{"name", AsciiLower(service_.name)}, {"dc", AsciiLower(datacenter)}});
  if (!config::check::IsDns1123Subdomain(host) || !config::check::DomainProblem(host).empty())
    return Warn("invalid-name", StrCat("\"", host, "\" is no host name: the service is left out"));
  config::ObjectMeta meta;
  meta.name = host;
  meta.ns = options_.platform.ns;
  meta.labels.emplace(kRegistryLabel, "consul");
  auto entry = std::make_shared<ServiceEntry>();
  entry->add_hosts(host);
  const std::string protocol = Protocol(places);
  auto& port = *entry->add_ports();
  port.set_number(Port(places));
  port.set_protocol(AsciiUpper(protocol));
  port.set_name(protocol);
  AddEndpoints(places, entry.get());
  config::ContentHash hash;
  hash.Add(static_cast<uint8_t>(config::Kind::kServiceEntry))
      .Add(meta)
      .Add(proto::DeterministicBytes(*entry));
  part_.objects.push_back(std::make_shared<const config::ConfigObject>(
      config::Kind::kServiceEntry, std::move(meta), origin_, std::move(entry), hash.value()));
}

void AddLabel(std::string_view key, std::string_view value, LabelMap* labels) {
  if (labels->size() < kMostLabels && config::check::LabelProblem(key, value).empty())
    labels->emplace(key, value);
}

}  // namespace

LabelMap LabelsOf(const ConsulInstance& instance, bool plain_tags) {
  LabelMap labels;
  for (const std::string& tag : instance.tags) {
    if (const auto pair = PairOf(tag)) AddLabel(pair->first, pair->second, &labels);
  }
  for (const auto& [key, value] : instance.meta) AddLabel(key, value, &labels);
  if (!plain_tags) return labels;
  for (const std::string& tag : instance.tags) {
    if (!PairOf(tag)) AddLabel(tag, "true", &labels);
  }
  return labels;
}

PlatformPart MakeConsulEntries(const ConsulOptions& options, const ConsulService& service) {
  return Maker(options, service).Make();
}

}  // namespace fairlead::source
