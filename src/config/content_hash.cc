#include "config/content_hash.h"

namespace fairlead::config {

ContentHash& ContentHash::Add(std::string_view text) {
  AddNumber(text.size());
  bytes_.append(text);
  return *this;
}

ContentHash& ContentHash::AddNumber(uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(number >> shift));
  return *this;
}

// Each struct is taken apart by a structured binding, so that one who adds a field is told to add it here.

ContentHash& ContentHash::Add(const ObjectMeta& meta) {
  const auto& [name, ns, labels, annotations, generate_name, created, generation, deleting, uid,
               resource_version, owners, cluster] = meta;
  (void)resource_version;
  if (!cluster.empty()) Add(cluster);
  return AddAll(name, ns, labels, annotations, generate_name, created, generation, deleting, uid, owners);
}

ContentHash& ContentHash::Add(const OwnerReference& owner) {
  const auto& [api_version, kind, name, controller] = owner;
  return AddAll(api_version, kind, name, controller);
}

ContentHash& ContentHash::Add(const ObjectStatus& status) {
  const auto& [addresses, conditions] = status;
  return AddAll(addresses, conditions);
}

ContentHash& ContentHash::Add(const ObjectStatus::Address& address) {
  const auto& [host, value] = address;
  return AddAll(host, value);
}

ContentHash& ContentHash::Add(const ObjectStatus::Condition& condition) {
  const auto& [type, status] = condition;
  return AddAll(type, status);
}

ContentHash& ContentHash::Add(const ServiceSpec& spec) {
  const auto& [type, cluster_ip, cluster_ips, external_ips, ip_families, external_name, selector, ports,
               publish_not_ready, affinity, affinity_timeout, internal_policy, external_policy, distribution,
               load_balancer_ip, ingress] = spec;
  return AddAll(type, cluster_ip, cluster_ips, external_ips, ip_families, external_name, selector, ports,
                publish_not_ready, affinity, affinity_timeout, internal_policy, external_policy, distribution,
                load_balancer_ip, ingress);
}

ContentHash& ContentHash::Add(const ServicePortSpec& port) {
  const auto& [name, protocol, app_protocol, number, target, node_port] = port;
  return AddAll(name, protocol, app_protocol, number, target, node_port);
}

ContentHash& ContentHash::Add(const PortReference& reference) {
  const auto& [number, name] = reference;
  return AddAll(number, name);
}

ContentHash& ContentHash::Add(const LoadBalancerIngress& ingress) {
  const auto& [ip, hostname] = ingress;
  return AddAll(ip, hostname);
}

ContentHash& ContentHash::Add(const EndpointSliceSpec& spec) {
  const auto& [address_type, endpoints, ports, mirror] = spec;
  return AddAll(address_type, endpoints, ports, mirror);
}

ContentHash& ContentHash::Add(const SliceEndpoint& endpoint) {
  const auto& [addresses, ready, serving, terminating, hostname, node_name, zone, target, ports] = endpoint;
  return AddAll(addresses, ready, serving, terminating, hostname, node_name, zone, target, ports);
}

ContentHash& ContentHash::Add(const SlicePort& port) {
  const auto& [name, protocol, number, app_protocol] = port;
  return AddAll(name, protocol, number, app_protocol);
}

ContentHash& ContentHash::Add(const TargetReference& target) {
  const auto& [kind, ns, name] = target;
  return AddAll(kind, ns, name);
}

ContentHash& ContentHash::Add(const PodSpec& spec) {
  const auto& [service_account, node_name, hostname, subdomain, host_network, has_containers, ports, phase,
               ready, ip, ips] = spec;
  return AddAll(service_account, node_name, hostname, subdomain, host_network, has_containers, ports, phase,
                ready, ip, ips);
}

ContentHash& ContentHash::Add(const ContainerPortSpec& port) {
  const auto& [name, container_port, protocol] = port;
  return AddAll(name, container_port, protocol);
}

ContentHash& ContentHash::Add(const NodeSpec& spec) {
  const auto& [addresses, kubelet_version] = spec;
  return AddAll(addresses, kubelet_version);
}

ContentHash& ContentHash::Add(const NodeAddress& address) {
  const auto& [type, text] = address;
  return AddAll(type, text);
}

ContentHash& ContentHash::Add(const SecretSpec& spec) {
  const auto& [type, data] = spec;
  return AddAll(type, data);
}

ContentHash& ContentHash::Add(const ConfigMapSpec& spec) {
  const auto& [data, binary_data] = spec;
  return AddAll(data, binary_data);
}

}  // namespace fairlead::config
