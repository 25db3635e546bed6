#include "gen/naming/lookup_family.h"

namespace fairlead::gen {

using envoy::config::cluster::v3::Cluster;

Cluster::DnsLookupFamily LookupFamily(const model::Features& features, bool ipv4, bool ipv6) {
  if (!ipv6) return Cluster::V4_ONLY;
  if (!ipv4) return features.ipv4_of_ipv6 ? Cluster::ALL : Cluster::V6_ONLY;
  return features.dual_stack ? Cluster::ALL : Cluster::V4_ONLY;
}

}  // namespace fairlead::gen
