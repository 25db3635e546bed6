#include "model/service_addresses.h"

#include <algorithm>
#include <optional>

#include "base/ip_address.h"

namespace fairlead::model {
namespace {

std::optional<IpAddress> AddressOf(std::string_view address_or_range) {
  return IpAddress::Parse(address_or_range.substr(0, address_or_range.find('/')));
}

}  // namespace

AddressView AddressViewOf(const ProxyClass& proxy, const Settings& settings) {
  AddressView view;
  view.ipv4 = proxy.ipv4;
  view.ipv6 = proxy.ipv6;
  view.own_cluster = proxy.cluster_id == settings.cluster_id;
  view.both_families = settings.features.dual_stack;
  if (!view.own_cluster) view.cluster = proxy.cluster_id;
  view.auto_allocated = proxy.dns_capture || proxy.type == ProxyType::kWaypoint;
  return view;
}

const std::vector<std::string>& ClusterVips(const Service& service, const AddressView& view) {
  static const auto* none = new std::vector<std::string>();
  if (!view.own_cluster && view.cluster.empty()) return *none;
  if (service.cluster() == view.cluster) return service.cluster_vips;
  for (const ServicePtr& one : service.in_other_clusters) {
    if (one->cluster() == view.cluster) return one->cluster_vips;
  }
  return *none;
}

std::vector<std::string> AllClusterVips(const Service& service) {
  std::vector<std::string> all = service.cluster_vips;
  for (const ServicePtr& one : service.in_other_clusters) {
    for (const std::string& vip : one->cluster_vips) {
      if (std::find(all.begin(), all.end(), vip) == all.end()) all.push_back(vip);
    }
  }
  return all;
}

std::vector<std::string> FilterByFamily(const std::vector<std::string>& addresses, bool ipv4, bool ipv6) {
  std::vector<std::string> v4, v6;
  if (addresses.empty()) return v4;
  for (const std::string& address : addresses) {
    const std::optional<IpAddress> parsed = AddressOf(address);
    if (!parsed) continue;
    if (parsed->is_v4() && ipv4) v4.push_back(address);
    if (parsed->is_v6() && ipv6) v6.push_back(address);
  }
  const std::optional<IpAddress> first = AddressOf(addresses.front());
  if (ipv4 && ipv6 && first && first->is_v6()) return v6;
  return v4.empty() ? v6 : v4;
}

std::string PrimaryAddress(const Service& service, const AddressView& view) {
  const std::vector<std::string> vips = FilterByFamily(ClusterVips(service, view), view.ipv4, view.ipv6);
  if (!vips.empty()) return vips.front();
  if (view.auto_allocated && service.address == kUnspecifiedAddress) {
    if (view.ipv4 && !service.auto_allocated_ipv4.empty()) return service.auto_allocated_ipv4;
    if (view.ipv6 && !service.auto_allocated_ipv6.empty()) return service.auto_allocated_ipv6;
  }
  return service.address;
}

std::vector<std::string> AllAddresses(const Service& service, const AddressView& view) {
  std::vector<std::string> addresses = ClusterVips(service, view);
  if (addresses.empty() && view.auto_allocated) {
    if (!service.auto_allocated_ipv4.empty()) addresses.push_back(service.auto_allocated_ipv4);
    if (!service.auto_allocated_ipv6.empty()) addresses.push_back(service.auto_allocated_ipv6);
  }
  const bool both = view.ipv4 && view.ipv6 && view.both_families;
  if (!both) addresses = FilterByFamily(addresses, view.ipv4, view.ipv6);
  if (!addresses.empty() || service.address.empty()) return addresses;
  // The address of a service with virtual IPs is one of them, perhaps of a family that the client cannot
  // reach.
  if (!service.cluster_vips.empty()) return FilterByFamily({service.address}, view.ipv4, view.ipv6);
  return {service.address};
}

}  // namespace fairlead::model
