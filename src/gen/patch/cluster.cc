#include <algorithm>
#include <string>

#include "envoy/config/cluster/v3/cluster.pb.h"
#include "gen/naming/cluster_name.h"
#include "gen/patch/apply.h"
#include "gen/patch/filter_merge.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

namespace fairlead::gen::patch {
namespace {

using envoy::config::cluster::v3::Cluster;
using envoy::config::core::v3::TransportSocket;
using istio::networking::v1alpha3::EnvoyFilter;

// The transport socket that a patch's goes into: of several that are matched by metadata the first of its
// name; null where there is none of its name.
TransportSocket* SocketFor(const std::string& name, Cluster* cluster) {
  for (auto& match : *cluster->mutable_transport_socket_matches()) {
    if (match.has_transport_socket() && match.transport_socket().name() == name)
      return match.mutable_transport_socket();
  }
  const bool own = cluster->transport_socket_matches().empty() && cluster->has_transport_socket() &&
                   cluster->transport_socket().name() == name;
  return own ? cluster->mutable_transport_socket() : nullptr;
}

// A patch with a transport socket changes nothing else, as in Istio. One that is no part of a cluster's
// socket matches is dropped: a cluster may not have both.
void MergeCluster(const Patch& patch, Cluster* cluster, PatchOutcome* outcome) {
  const auto& from = patch.Value<Cluster>();
  if (!from.has_transport_socket()) return Merge(from, ListsOf(patch), cluster);
  if (TransportSocket* socket = SocketFor(from.transport_socket().name(), cluster)) {
    MergeSocket(patch, from.transport_socket(), socket, outcome);
  } else if (cluster->transport_socket_matches().empty()) {
    *cluster->mutable_transport_socket() = from.transport_socket();
  }
}

bool IsHost(const std::string& service, const ParsedClusterName& name,
            const std::vector<std::string_view>& hosts) {
  if (name.direction == Direction::kInbound && !hosts.empty())
    return std::find(hosts.begin(), hosts.end(), service) != hosts.end();
  return service == name.host;
}

}  // namespace

bool MatchesCluster(const Patch& patch, std::string_view name, const std::vector<std::string_view>& hosts) {
  if (!patch.match().has_cluster()) return true;
  const EnvoyFilter::ClusterMatch& wanted = patch.match().cluster();
  if (!wanted.name().empty()) return wanted.name() == name;
  const ParsedClusterName parsed = ParseClusterName(name);
  if (!wanted.subset().empty() && wanted.subset() != parsed.subset) return false;
  if (!wanted.service().empty() && !IsHost(wanted.service(), parsed, hosts)) return false;
  return wanted.port_number() == 0 || wanted.port_number() == parsed.port;
}

bool PatchCluster(const PatchSet& patches, const std::vector<std::string_view>& hosts, Cluster* cluster,
                  PatchOutcome* outcome) {
  for (const Patch* patch : patches.Of(EnvoyFilter::CLUSTER)) {
    if (outcome->Skips(*patch)) continue;
    const bool concerned = !patch->Adds() && MatchesCluster(*patch, cluster->name(), hosts);
    if (concerned && patch->Merges()) MergeCluster(*patch, cluster, outcome);
    outcome->Note(*patch, concerned && (patch->Merges() || patch->Removes()));
    if (concerned && patch->Removes()) return false;
  }
  return true;
}

std::vector<const Cluster*> AddedClusters(const PatchSet& patches, PatchOutcome* outcome) {
  std::vector<const Cluster*> added;
  for (const Patch* patch : patches.Of(EnvoyFilter::CLUSTER)) {
    if (!patch->Adds()) continue;
    added.push_back(&patch->Value<Cluster>());
    outcome->Note(*patch, true);
  }
  return added;
}

}  // namespace fairlead::gen::patch
