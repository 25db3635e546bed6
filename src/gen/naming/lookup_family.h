#ifndef FAIRLEAD_GEN_NAMING_LOOKUP_FAMILY_H_
#define FAIRLEAD_GEN_NAMING_LOOKUP_FAMILY_H_

#include "envoy/config/cluster/v3/cluster.pb.h"
#include "model/features.h"

namespace fairlead::gen {

// The families of addresses that a proxy asks name servers for, by those of its own addresses; IPv4 where
// none is known. Source: Istio's SelectDNSLookupFamily.
envoy::config::cluster::v3::Cluster::DnsLookupFamily LookupFamily(const model::Features& features, bool ipv4,
                                                                  bool ipv6);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_NAMING_LOOKUP_FAMILY_H_
