#include <algorithm>
#include <set>

#include "base/ip_address.h"
#include "config/check/kinds.h"
#include "config/check/parts.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/networking/v1alpha3/workload_group.pb.h"

namespace fairlead::config::check {
namespace {

using net::ServiceEntry;
using PortNames = std::set<std::string_view>;

void CheckPorts(const net::WorkloadEntry& workload, const PortNames* ports, const Spot& at) {
  for (const auto& [name, number] : workload.ports()) {
    const Spot here(at, name);
    if (ports != nullptr && !ports->contains(name))
      here.Error("unknown-port", "the service entry has no such port");
    here.Refuse(PortNameProblem(name));
    here.Refuse(PortProblem(number));
  }
}

// `ports`: those of the service entry that the workload is in; null for a workload by itself.
void CheckWorkload(const net::WorkloadEntry& workload, const PortNames* ports, bool names, const Spot& at) {
  const std::string_view address = workload.address();
  const Spot address_at(at, "address");
  if (address.empty() && workload.network().empty())
    return address_at.Error("missing-field", "an address or a network is required");
  if (address.empty()) address_at.Warn("no-effect", "without an address the network's gateways are used");
  if (address.starts_with("unix://")) {
    address_at.Refuse(SocketPathProblem(address.substr(7)));
    if (workload.ports_size() != 0) at.Field("ports").Error("conflict", "a socket has no ports");
    if (ports != nullptr && ports->size() != 1)
      at.Error("conflict", "a socket wants a service entry with one port");
  } else if (!address.empty() && !IsIpAddress(address) && (!names || !DomainProblem(address).empty())) {
    address_at.Refuse(StrCat(
        "\"", address, names ? "\" is neither an IP address nor a domain name" : "\" is no IP address"));
  }
  CheckPorts(workload, ports, Spot(at, "ports"));
  CheckLabels(workload.labels(), Spot(at, "labels"));
}

void CheckDnsEndpoint(const net::WorkloadEntry& endpoint, const PortNames& ports, const Spot& at) {
  if (!IsIpAddress(endpoint.address())) at.Field("address").Refuse(DomainProblem(endpoint.address()));
  CheckLabels(endpoint.labels(), Spot(at, "labels"));
  CheckPorts(endpoint, &ports, Spot(at, "ports"));
}

// Whether Istio allocates an address where none is given.
bool AllocatesAddresses(const ServiceEntry& entry, const ObjectMeta& meta) {
  if (entry.resolution() == ServiceEntry::NONE || entry.addresses_size() > 0) return false;
  const auto it = meta.labels.find("networking.istio.io/enable-autoallocate-ip");
  return it == meta.labels.end() || !EqualsIgnoreCase(it->second, "false");
}

PortNames CheckServicePorts(const ServiceEntry& entry, const Spot& at) {
  PortNames names;
  std::set<uint32_t> numbers;
  const bool allocates = AllocatesAddresses(entry, at.meta());
  for (int i = 0; i < entry.ports_size(); ++i) {
    const net::ServicePort& port = entry.ports(i);
    const Spot here(at, static_cast<size_t>(i));
    if (!names.insert(port.name()).second)
      here.Field("name").Error("duplicate-item", StrCat("another port is \"", port.name(), "\""));
    if (!numbers.insert(port.number()).second)
      here.Field("number").Error("duplicate-item", "another port has this number");
    if (port.target_port() != 0) here.Field("targetPort").Refuse(PortProblem(port.target_port()));
    if (entry.addresses_size() == 0 && !allocates && (port.protocol().empty() || port.protocol() == "TCP"))
      here.Warn("no-effect", "TCP wants addresses where none are allocated");
    here.Field("name").Refuse(PortNameProblem(port.name()));
    here.Field("protocol").Refuse(ProtocolProblem(port.protocol()));
    here.Field("number").Refuse(PortProblem(port.number()));
  }
  return names;
}

void CheckHosts(const ServiceEntry& entry, const Spot& at) {
  if (entry.hosts_size() == 0) at.Error("missing-field", "a service entry has at least one host");
  for (int i = 0; i < entry.hosts_size(); ++i) {
    const Spot here(at, static_cast<size_t>(i));
    if (entry.hosts(i) == "*") {
      here.Refuse("\"*\" is no host of a service entry");
      continue;
    }
    here.Refuse(WildcardDomainProblem(entry.hosts(i)));
    const std::string why = WhyPartialWildcard(entry.hosts(i));
    if (entry.resolution() != ServiceEntry::DYNAMIC_DNS && !why.empty()) here.Warn("unusual", why);
  }
}

void CheckDns(const ServiceEntry& entry, const PortNames& ports, const Spot& spec) {
  const Spot hosts(spec, "hosts"), endpoints(spec, "endpoints");
  for (int i = 0; i < entry.hosts_size() && entry.endpoints_size() == 0; ++i)
    Spot(hosts, static_cast<size_t>(i)).Refuse(DomainProblem(entry.hosts(i)));
  if (entry.resolution() == ServiceEntry::DNS_ROUND_ROBIN && entry.endpoints_size() > 1)
    endpoints.Error("conflict", "DNS_ROUND_ROBIN has at most one endpoint");
  for (int i = 0; i < entry.endpoints_size(); ++i)
    CheckDnsEndpoint(entry.endpoints(i), ports, Spot(endpoints, static_cast<size_t>(i)));
  const bool tcp = std::any_of(entry.ports().begin(), entry.ports().end(),
                               [](const auto& port) { return IsTcp(ParseProtocol(port.protocol())); });
  if (tcp && entry.addresses_size() > 0 && entry.hosts_size() > 1)
    hosts.Warn("unusual", "several hosts of a TCP port cannot be told apart by an address");
}

void CheckDynamicDns(const ServiceEntry& entry, const Spot& spec) {
  const Spot hosts(spec, "hosts"), ports(spec, "ports");
  for (int i = 0; i < entry.hosts_size(); ++i) {
    if (!entry.hosts(i).starts_with('*'))
      Spot(hosts, static_cast<size_t>(i)).Refuse("DYNAMIC_DNS wants wildcard hosts");
  }
  if (entry.addresses_size() != 0) spec.Field("addresses").Error("conflict", "DYNAMIC_DNS has no addresses");
  if (entry.endpoints_size() != 0) spec.Field("endpoints").Error("conflict", "DYNAMIC_DNS has no endpoints");
  for (int i = 0; i < entry.ports_size(); ++i) {
    const Protocol protocol = ParseProtocol(entry.ports(i).protocol());
    if (protocol != Protocol::kHttp && protocol != Protocol::kTls && protocol != Protocol::kGrpc &&
        protocol != Protocol::kHttp2) {
      Spot(ports, static_cast<size_t>(i))
          .Error("unsupported", "DYNAMIC_DNS is for HTTP, HTTP2, GRPC and TLS");
    }
  }
  const auto waypoint = spec.meta().labels.find("istio.io/use-waypoint");
  if (entry.location() == ServiceEntry::MESH_INTERNAL && waypoint != spec.meta().labels.end() &&
      !waypoint->second.empty() && !EqualsIgnoreCase(waypoint->second, "none")) {
    spec.Field("location").Error("unsupported", "DYNAMIC_DNS goes not with MESH_INTERNAL and a waypoint");
  }
}

void CheckResolution(const ServiceEntry& entry, const PortNames& ports, const Spot& spec) {
  const Spot endpoints(spec, "endpoints");
  switch (entry.resolution()) {
    case ServiceEntry::NONE:
      if (entry.endpoints_size() != 0) endpoints.Error("conflict", "resolution NONE has no endpoints");
      if (entry.has_workload_selector())
        spec.Field("workloadSelector").Warn("no-effect", "resolution NONE selects nothing");
      break;
    case ServiceEntry::STATIC:
      for (int i = 0; i < entry.endpoints_size(); ++i)
        CheckWorkload(entry.endpoints(i), &ports, false, Spot(endpoints, static_cast<size_t>(i)));
      break;
    case ServiceEntry::DNS:
    case ServiceEntry::DNS_ROUND_ROBIN:
      CheckDns(entry, ports, spec);
      break;
    case ServiceEntry::DYNAMIC_DNS:
      CheckDynamicDns(entry, spec);
      break;
    default:
      spec.Field("resolution").Error("unknown-value", "unknown resolution");
  }
}

void CheckProbe(const net::ReadinessProbe& probe, const Spot& at) {
  using Probe = net::ReadinessProbe;
  CheckNotNegative(probe.period_seconds(), Spot(at, "periodSeconds"));
  CheckNotNegative(probe.initial_delay_seconds(), Spot(at, "initialDelaySeconds"));
  CheckNotNegative(probe.timeout_seconds(), Spot(at, "timeoutSeconds"));
  CheckNotNegative(probe.success_threshold(), Spot(at, "successThreshold"));
  CheckNotNegative(probe.failure_threshold(), Spot(at, "failureThreshold"));
  const Spot http(at, "httpGet"), tcp(at, "tcpSocket"), exec(at, "exec");
  switch (probe.health_check_method_case()) {
    case Probe::kHttpGet:
      http.Field("port").Refuse(PortProblem(probe.http_get().port()));
      for (const auto& header : probe.http_get().http_headers()) {
        const bool good = std::all_of(header.name().begin(), header.name().end(), [](char c) {
          return isalnum(static_cast<unsigned char>(c)) || c == '-';
        });
        if (!good || header.name().empty())
          http.Field("httpHeaders").Refuse(StrCat("\"", header.name(), "\" is no header's name"));
      }
      if (!probe.http_get().scheme().empty() && probe.http_get().scheme() != "HTTP" &&
          probe.http_get().scheme() != "HTTPS") {
        http.Field("scheme").Refuse("the scheme is HTTP or HTTPS");
      }
      break;
    case Probe::kTcpSocket:
      tcp.Field("port").Refuse(PortProblem(probe.tcp_socket().port()));
      break;
    case Probe::kExec:
      if (probe.exec().command_size() == 0)
        exec.Field("command").Error("missing-field", "this field is required");
      break;
    case Probe::kGrpc:
      at.Field("grpc").Error("unsupported", "a probe has one of httpGet, tcpSocket and exec");
      break;
    case Probe::HEALTH_CHECK_METHOD_NOT_SET:
      at.Error("missing-field", "a probe has one of httpGet, tcpSocket and exec");
  }
}

}  // namespace

void CheckServiceEntry(const google::protobuf::Message& message, const Spot& spec) {
  const auto& entry = static_cast<const ServiceEntry&>(message);
  const Spot selector(spec, "workloadSelector"), addresses(spec, "addresses");
  if (entry.has_workload_selector())
    CheckSelectedLabels(entry.workload_selector().labels(), Spot(selector, "labels"));
  if (entry.has_workload_selector() && entry.endpoints_size() > 0)
    selector.Error("conflict", "only one of workloadSelector and endpoints may be set");
  CheckHosts(entry, Spot(spec, "hosts"));
  bool range = false;
  for (int i = 0; i < entry.addresses_size(); ++i) {
    range = range || entry.addresses(i).find('/') != std::string::npos;
    Spot(addresses, static_cast<size_t>(i)).Refuse(IpRangeProblem(entry.addresses(i)));
  }
  if (range && entry.resolution() != ServiceEntry::NONE && entry.resolution() != ServiceEntry::STATIC)
    addresses.Error("conflict", "ranges are for resolution NONE and STATIC");
  const PortNames ports = CheckServicePorts(entry, Spot(spec, "ports"));
  CheckResolution(entry, ports, spec);
  const bool plain = std::any_of(entry.ports().begin(), entry.ports().end(), [](const auto& port) {
    const Protocol protocol = ParseProtocol(port.protocol());
    return !IsHttp(protocol) && !IsTls(protocol);
  });
  if (plain && entry.resolution() != ServiceEntry::NONE && entry.hosts_size() > 1)
    spec.Field("hosts").Error("conflict",
                              "several hosts of a port that is neither HTTP nor TLS cannot be told apart");
  CheckExportTo(entry.export_to(), ExportOf::kServiceEntry, Spot(spec, "exportTo"));
}

void CheckWorkloadEntry(const google::protobuf::Message& message, const Spot& spec) {
  CheckWorkload(static_cast<const net::WorkloadEntry&>(message), nullptr, true, spec);
}

void CheckWorkloadGroup(const google::protobuf::Message& message, const Spot& spec) {
  const auto& group = static_cast<const net::WorkloadGroup&>(message);
  if (!group.has_template_()) spec.Field("template").Error("missing-field", "this field is required");
  const Spot metadata(spec, "metadata");
  CheckLabels(group.metadata().labels(), Spot(metadata, "labels"));
  if (group.has_probe()) CheckProbe(group.probe(), Spot(spec, "probe"));
}

}  // namespace fairlead::config::check
