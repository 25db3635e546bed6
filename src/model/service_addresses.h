#ifndef FAIRLEAD_MODEL_SERVICE_ADDRESSES_H_
#define FAIRLEAD_MODEL_SERVICE_ADDRESSES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/proxy_class.h"
#include "model/service.h"
#include "model/settings.h"

// Which of a service's addresses a client uses. Source: Istio's Service.GetAddressForProxy and
// GetAllAddressesForProxy.
namespace fairlead::model {

// What of a proxy decides about the addresses that it sees; equal for nearly all proxies of a mesh.
struct AddressView {
  bool ipv4 = true;
  bool ipv6 = false;
  bool both_families = false;   // ISTIO_DUAL_STACK: to a proxy of both, services have addresses of both
  bool own_cluster = true;      // the proxy is in the control plane's own cluster
  Interned cluster = {};        // of a proxy in another one its id; "" where the proxy does not say
  bool auto_allocated = false;  // the proxy captures DNS, so that allocated addresses reach it

  friend bool operator==(const AddressView&, const AddressView&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const AddressView& v) {
    return H::combine(std::move(h), v.ipv4, v.ipv6, v.both_families, v.own_cluster, v.cluster,
                      v.auto_allocated);
  }
};

AddressView AddressViewOf(const ProxyClass& proxy, const Settings& settings);

// The virtual IPs that the service has in the proxy's cluster, in order; none where it is not there.
const std::vector<std::string>& ClusterVips(const Service& service, const AddressView& view);
// Those of all clusters, the first cluster's first; of several that are equal the first.
std::vector<std::string> AllClusterVips(const Service& service);

// Where a service has no address at all.
inline constexpr std::string_view kUnspecifiedAddress = "0.0.0.0";

// The one address that stands for the service; kUnspecifiedAddress where there is none.
std::string PrimaryAddress(const Service& service, const AddressView& view);
// Every address that the client is told of, the primary one first: those of the first one's family, or of
// both with both_families. May hold kUnspecifiedAddress as the only one.
std::vector<std::string> AllAddresses(const Service& service, const AddressView& view);

// The addresses of the families that a client supports; for a client of both families only those of the first
// address's family. Addresses may be CIDR ranges; what is neither is dropped. Source: Istio's
// FilterAddressesByIPFamily.
std::vector<std::string> FilterByFamily(const std::vector<std::string>& addresses, bool ipv4, bool ipv6);

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_SERVICE_ADDRESSES_H_
