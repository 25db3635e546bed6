#include "source/platform/made_entries.h"

#include <google/protobuf/message.h>

#include <algorithm>

#include "base/ip_address.h"
#include "base/strings.h"
#include "config/check/names.h"
#include "config/content_hash.h"
#include "config/protocol.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"
#include "proto/messages.h"
#include "source/platform/source_url.h"

namespace fairlead::source {
namespace {

using istio::networking::v1alpha3::ServiceEntry;
using istio::networking::v1alpha3::WorkloadEntry;

constexpr size_t kMostLabels = 64;
constexpr char kRegistryLabel[] = "fairlead.dev/registry";
constexpr char kApiVersion[] = "networking.istio.io/v1";

bool IsSeparator(char c) { return c == '.' || c == '-'; }

}  // namespace

PartMaker::PartMaker(std::string registry, const std::string& file, std::string subject)
    : registry_(std::move(registry)), subject_(std::move(subject)) {
  origin_.file = file;
  origin_.api_version = kApiVersion;
}

void PartMaker::Warn(std::string code, const std::string& message) {
  if (!said_.insert(StrCat(code, message)).second) return;
  config::Diagnostic& diagnostic = part_.diagnostics.emplace_back();
  diagnostic.severity = config::Severity::kWarning;
  diagnostic.code = std::move(code);
  diagnostic.file = origin_.file.str();
  diagnostic.message = StrCat(subject_, ": ", message);
}

bool PartMaker::IsAddress(const std::string& address, std::string_view whose) {
  if (IsIpAddress(address) || (!address.empty() && config::check::DomainProblem(address).empty()))
    return true;
  Warn("invalid-address",
       StrCat(whose, " has \"", address, "\", no address and no host name, and is left out"));
  return false;
}

bool PartMaker::AddPort(MadeService::Endpoint* endpoint, const std::string& address, uint32_t port,
                        std::string_view whose) {
  if (endpoint->address.empty()) {
    if (!IsAddress(address, whose)) return false;
    endpoint->address = address;
  } else if (endpoint->address != address) {
    Warn("several-addresses", StrCat(whose, " has its ports at ", endpoint->address, " and ", address,
                                     " and is left out; see option address"));
    return false;
  }
  endpoint->ports.push_back(port);
  return true;
}

std::string PartMaker::KnownProtocol(std::string_view said, std::string_view port_name) {
  if (!said.empty() && config::ParseProtocol(said) == config::Protocol::kUnsupported)
    Warn("unknown-protocol", StrCat("protocol \"", said, "\" is not known"));
  return ProtocolOf(said, port_name);
}

bool PartMaker::IsPlace(const std::string& host, const std::string& ns) {
  if (!config::check::IsDns1123Subdomain(host) || !config::check::DomainProblem(host).empty()) {
    Warn("invalid-name", StrCat("\"", host, "\" is no host name: it is left out"));
    return false;
  }
  if (!config::check::IsDns1123Label(ns) || AsciiLower(ns) != ns) {
    Warn("invalid-name", StrCat("\"", ns, "\" is no namespace: it is left out"));
    return false;
  }
  return true;
}

// Names are unique in an entry, as are numbers: of two ports with one number the first counts.
void PartMaker::NamePorts(MadeService* service) {
  std::set<std::string> names;
  std::set<uint32_t> numbers;
  for (size_t i = 0; i < service->ports.size();) {
    MadeService::Port& port = service->ports[i];
    if (numbers.insert(port.number).second) {
      if (port.protocol.empty()) port.protocol = "tcp";
      const std::string said = AsciiLower(port.name);
      port.name = config::check::PortNameProblem(said).empty() && !said.empty() ? said : port.protocol;
      if (!names.insert(port.name).second) names.insert(port.name = StrCat(port.protocol, "-", port.number));
      ++i;
      continue;
    }
    Warn("several-ports", StrCat("two of its ports have the number ", port.number, ": the first counts"));
    service->ports.erase(service->ports.begin() + static_cast<ptrdiff_t>(i));
    for (MadeService::Endpoint& endpoint : service->endpoints)
      endpoint.ports.erase(endpoint.ports.begin() + static_cast<ptrdiff_t>(i));
  }
}

void PartMaker::AddService(MadeService service) {
  if (service.ports.empty() || service.endpoints.empty() || !IsPlace(service.host, service.ns)) return;
  NamePorts(&service);
  auto entry = std::make_shared<ServiceEntry>();
  entry->add_hosts(service.host);
  for (const std::string& address : service.addresses) entry->add_addresses(address);
  for (const std::string& ns : service.export_to) entry->add_export_to(ns);
  for (const MadeService::Port& port : service.ports) {
    auto& added = *entry->add_ports();
    added.set_number(port.number);
    added.set_name(port.name);
    added.set_protocol(AsciiUpper(port.protocol));
  }
  bool addresses_only = true;
  for (const MadeService::Endpoint& endpoint : service.endpoints) {
    WorkloadEntry& added = *entry->add_endpoints();
    added.set_address(endpoint.address);
    for (size_t i = 0; i < service.ports.size(); ++i)
      (*added.mutable_ports())[service.ports[i].name] = endpoint.ports[i];
    for (const auto& [key, value] : endpoint.labels) (*added.mutable_labels())[key] = value;
    added.set_locality(endpoint.locality);
    added.set_network(endpoint.network);
    added.set_weight(endpoint.weight);
    addresses_only = addresses_only && IsIpAddress(endpoint.address);
  }
  entry->set_resolution(addresses_only ? ServiceEntry::STATIC : ServiceEntry::DNS);
  entry->set_location(ServiceEntry::MESH_INTERNAL);
  AddObject(config::Kind::kServiceEntry, service.ns, service.host, std::move(entry));
}

void PartMaker::AddObject(config::Kind kind, const std::string& ns, const std::string& name,
                          std::shared_ptr<const google::protobuf::Message> spec) {
  config::ObjectMeta meta;
  meta.name = name;
  meta.ns = ns;
  meta.labels.emplace(kRegistryLabel, registry_);
  config::ContentHash hash;
  hash.Add(static_cast<uint8_t>(kind)).Add(meta).Add(proto::DeterministicBytes(*spec));
  part_.objects.push_back(std::make_shared<const config::ConfigObject>(kind, std::move(meta), origin_,
                                                                       std::move(spec), hash.value()));
}

LabelMap ValidLabels(const LabelMap& labels) {
  LabelMap valid;
  for (const auto& [key, value] : labels) {
    if (valid.size() < kMostLabels && config::check::LabelProblem(key, value).empty())
      valid.emplace(key, value);
  }
  return valid;
}

std::string ProtocolOf(std::string_view said, std::string_view port_name) {
  if (config::ParseProtocol(said) != config::Protocol::kUnsupported) return AsciiLower(said);
  for (const std::string_view name : {port_name, port_name.substr(0, port_name.find('-'))}) {
    if (config::ParseProtocol(name) != config::Protocol::kUnsupported) return AsciiLower(name);
  }
  return port_name.starts_with("grpc-web") ? "grpc-web" : "";
}

std::string ExpandName(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string out;
  for (const char c : ExpandTemplate(text, values)) {
    // Of two side by side the dot stays.
    if (IsSeparator(c) && (out.empty() || out.back() == '.')) continue;
    if (c == '.' && out.back() == '-') out.pop_back();
    out.push_back(c);
  }
  while (!out.empty() && IsSeparator(out.back())) out.pop_back();
  return out;
}

}  // namespace fairlead::source
