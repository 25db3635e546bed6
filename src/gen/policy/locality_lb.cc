#include "gen/policy/locality_lb.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/strings.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"

namespace fairlead::gen {
namespace {

namespace ep = envoy::config::endpoint::v3;
using Groups = std::vector<LocalityGroup>;

constexpr std::string_view kNetworkLabel = "topology.istio.io/network";
constexpr std::string_view kClusterLabel = "topology.istio.io/cluster";
constexpr std::string_view kRegionLabel = "topology.kubernetes.io/region";
constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
constexpr std::string_view kSubzoneLabel = "topology.istio.io/subzone";
constexpr std::string_view kNodeLabel = "kubernetes.io/hostname";

const api::LocalityLoadBalancerSetting* PreferenceByLabels(std::initializer_list<std::string_view> labels) {
  auto* setting = new api::LocalityLoadBalancerSetting;  // lives as long as the process
  setting->mutable_enabled()->set_value(true);
  for (std::string_view label : labels) setting->add_failover_priority(std::string(label));
  return setting;
}

// Kubernetes' trafficDistribution as the failover priorities that it amounts to.
const api::LocalityLoadBalancerSetting* SettingOf(model::TrafficDistribution distribution) {
  static const auto* zone = PreferenceByLabels({kNetworkLabel, kRegionLabel, kZoneLabel});
  static const auto* node =
      PreferenceByLabels({kNetworkLabel, kRegionLabel, kZoneLabel, kSubzoneLabel, kNodeLabel});
  switch (distribution) {
    case model::TrafficDistribution::kPreferSameZone:
      return zone;
    case model::TrafficDistribution::kPreferSameNode:
      return node;
    case model::TrafficDistribution::kAny:
      break;
  }
  return nullptr;
}

template <typename Setting>
bool Enabled(const Setting& setting) {
  return !setting.has_enabled() || setting.enabled().value();
}

// Whether "region/zone/subzone" of a rule, "*" and missing parts being wildcards, covers a locality.
bool Covers(std::string_view rule, const std::string& region, const std::string& zone,
            const std::string& subzone) {
  const std::vector<std::string_view> parts = Split(rule, '/');
  const auto matches = [&parts](size_t i, const std::string& value, bool empty_matches) {
    const std::string_view part = i < parts.size() ? parts[i] : "";
    return part == "*" || (part.empty() && empty_matches) || part == value;
  };
  return matches(0, region, false) && matches(1, zone, true) && matches(2, subzone, true);
}
bool Covers(std::string_view rule, const model::Locality& l) {
  return Covers(rule, l.region.str(), l.zone.str(), l.subzone.str());
}
bool Covers(std::string_view rule, const envoy::config::core::v3::Locality& l) {
  return Covers(rule, l.region(), l.zone(), l.sub_zone());
}

// Shares a weight among the groups that `to` covers and that no rule has taken yet, in proportion to their
// own weights.
void ShareWeight(std::string_view to, uint32_t weight, Groups* groups, std::vector<bool>* taken) {
  std::vector<std::pair<size_t, uint32_t>> covered;
  uint32_t total = 0;
  for (size_t i = 0; i < groups->size(); ++i) {
    const auto& message = (*groups)[i].message;
    if ((*taken)[i] || !Covers(to, message.locality())) continue;
    (*taken)[i] = true;
    const uint32_t own = message.has_load_balancing_weight() ? message.load_balancing_weight().value() : 1;
    covered.emplace_back(i, own);
    total += own;
  }
  for (const auto& [i, own] : covered) {
    const double share = static_cast<double>(own * weight) / static_cast<double>(total);
    if (share > 0) {
      (*groups)[i].message.mutable_load_balancing_weight()->set_value(
          static_cast<uint32_t>(std::ceil(share)));
    }
  }
}

// The first rule for the client's locality decides; localities that it does not name get no traffic.
void Distribute(const api::LocalityLoadBalancerSetting& setting, const model::Locality& client,
                Groups* groups) {
  for (const auto& rule : setting.distribute()) {
    if (!Covers(rule.from(), client)) continue;
    std::vector<bool> taken(groups->size(), false);
    // Overlapping destinations have no defined order in the API: by name.
    const std::map<std::string, uint32_t> sorted(rule.to().begin(), rule.to().end());
    for (const auto& [to, weight] : sorted) ShareWeight(to, weight, groups, &taken);
    for (size_t i = 0; i < groups->size(); ++i) {
      if (taken[i]) continue;
      (*groups)[i].message.clear_lb_endpoints();
      (*groups)[i].members.clear();
    }
    return;
  }
}

// Envoy wants priorities from 0 up without a gap.
void CompactPriorities(Groups* groups) {
  std::map<uint32_t, uint32_t> rank;
  for (const auto& group : *groups) rank[group.message.priority()] = 0;
  uint32_t next = 0;
  for (auto& [priority, position] : rank) position = next++;
  for (auto& group : *groups) group.message.set_priority(rank[group.message.priority()]);
}

uint32_t Distance(const model::Locality& client, const envoy::config::core::v3::Locality& endpoint) {
  if (client.region.str() != endpoint.region()) return 3;
  if (client.zone.str() != endpoint.zone()) return 2;
  return client.subzone.str() != endpoint.sub_zone() ? 1 : 0;
}

// Whether a failover rule for the client's region names another region than `region`.
template <typename Failovers>
bool FailsOverElsewhere(const Failovers& failovers, const std::string& client_region,
                        const std::string& region) {
  for (const auto& rule : failovers) {
    if (rule.from() == client_region) return rule.to() != region;
  }
  return false;
}
template <typename Failovers>
bool FailsOverTo(const Failovers& failovers, const std::string& client_region, const std::string& region) {
  for (const auto& rule : failovers) {
    if (rule.from() == client_region) return rule.to() == region;
  }
  return false;
}

// By distance: same subzone, zone, region, then the region that a rule names, then the others. Priorities
// that labels gave before stay the first criterion.
void FailOverByDistance(const api::LocalityLoadBalancerSetting& setting, const model::Locality& client,
                        Groups* groups) {
  constexpr uint32_t kLevels = 5;
  for (auto& group : *groups) {
    uint32_t level = Distance(client, group.message.locality());
    if (level == 3 &&
        FailsOverElsewhere(setting.failover(), client.region.str(), group.message.locality().region())) {
      level = 4;
    }
    group.message.set_priority(group.message.priority() * kLevels + level);
  }
  CompactPriorities(groups);
}

// Zone-aware routing balances zones within priority 0, so that holds the whole region of the client.
void FailOverByRegion(const api::ZoneAwareLoadBalancerSetting& setting, const model::Locality& client,
                      Groups* groups) {
  constexpr uint32_t kLevels = 3;
  for (auto& group : *groups) {
    const std::string& region = group.message.locality().region();
    uint32_t level = 0;
    if (region != client.region.str())
      level = FailsOverTo(setting.failover(), client.region.str(), region) ? 1 : 2;
    group.message.set_priority(group.message.priority() * kLevels + level);
  }
  CompactPriorities(groups);
}

struct PriorityLabel {
  std::string_view key;
  std::string_view wanted;  // the value that counts as a match
  bool network = false;     // the client's network, without a value of its own
};

std::vector<PriorityLabel> PriorityLabels(const google::protobuf::RepeatedPtrField<std::string>& setting,
                                          const LabelMap& client) {
  std::vector<PriorityLabel> labels;
  for (const std::string& entry : setting) {
    const std::vector<std::string_view> parts = Split(entry, '=');
    const std::string_view wanted = parts.size() == 2 ? parts[1] : LabelOr(client, parts[0]);
    labels.push_back({parts[0], wanted, entry == kNetworkLabel});
  }
  return labels;
}

// 0 where all labels match; the earlier the first mismatch, the higher. A leading network label is looked at
// apart: a mismatch there puts the endpoint behind all of the client's own network, whatever else matches.
uint32_t LabelPriority(const std::vector<PriorityLabel>& labels, const GroupMember& member) {
  const size_t count = labels.size();
  uint32_t other_network = 0;
  for (size_t i = 0; i < count; ++i) {
    if (member.Label(labels[i].key) == labels[i].wanted) continue;
    if (i == 0 && labels[0].network) {
      other_network = static_cast<uint32_t>(count);
      continue;
    }
    return static_cast<uint32_t>(count - i) + other_network;
  }
  return other_network;
}

// Splits every group by the priorities of its endpoints.
void FailOverByLabels(const google::protobuf::RepeatedPtrField<std::string>& setting,
                      const LocalityClient& client, Groups* groups) {
  if (!client.labelled) return;
  const std::vector<PriorityLabel> labels = PriorityLabels(setting, client.labels);
  Groups split;
  for (LocalityGroup& group : *groups) {
    std::map<uint32_t, LocalityGroup> parts;
    for (size_t i = 0; i < group.members.size(); ++i) {
      LocalityGroup& part = parts[LabelPriority(labels, group.members[i])];
      part.message.mutable_lb_endpoints()->Add()->Swap(
          group.message.mutable_lb_endpoints(static_cast<int>(i)));
      part.members.push_back(group.members[i]);
    }
    for (auto& [priority, part] : parts) {
      uint32_t weight = 0;
      for (const auto& endpoint : part.message.lb_endpoints())
        weight += endpoint.load_balancing_weight().value();
      if (group.message.has_locality()) *part.message.mutable_locality() = group.message.locality();
      part.message.set_priority(priority);
      part.message.mutable_load_balancing_weight()->set_value(weight);
      split.push_back(std::move(part));
    }
  }
  *groups = std::move(split);
  CompactPriorities(groups);
}

}  // namespace

bool LocalityPolicy::ZoneAwareRouting() const { return zone_aware != nullptr && Enabled(*zone_aware); }

LocalityPolicy ResolveLocalityPolicy(const istio::mesh::v1alpha1::MeshConfig& mesh,
                                     const api::LoadBalancerSettings* load_balancer,
                                     const model::Service& service) {
  if (load_balancer != nullptr && load_balancer->has_zone_aware_lb_setting()) {
    return {.zone_aware = &load_balancer->zone_aware_lb_setting()};
  }
  if (load_balancer != nullptr && load_balancer->has_locality_lb_setting()) {
    const auto& setting = load_balancer->locality_lb_setting();
    return {.locality = Enabled(setting) ? &setting : nullptr};
  }
  if (const auto* setting = SettingOf(service.traffic_distribution)) {
    return {.locality = setting, .force_failover = true};
  }
  if (mesh.has_zone_aware_lb_setting()) return {.zone_aware = &mesh.zone_aware_lb_setting()};
  if (mesh.has_locality_lb_setting() && Enabled(mesh.locality_lb_setting())) {
    return {.locality = &mesh.locality_lb_setting()};
  }
  return {};
}

std::string_view GroupMember::Label(std::string_view key) const {
  if (endpoint != nullptr) return LabelOr(endpoint->workload->labels, key);
  if (key == kNetworkLabel) return gateway->network;
  if (key == kClusterLabel) return gateway->cluster;
  return "";
}

void ApplyLocalityPolicy(const LocalityPolicy& policy, const LocalityClient& client, bool failover,
                         bool by_labels, Groups* groups) {
  if (policy.zone_aware != nullptr) {
    if (!policy.ZoneAwareRouting()) return;
    if (by_labels && policy.zone_aware->failover_priority_size() > 0) {
      FailOverByLabels(policy.zone_aware->failover_priority(), client, groups);
    }
    return FailOverByRegion(*policy.zone_aware, client.locality, groups);
  }
  if (policy.locality == nullptr) return;
  const auto& setting = *policy.locality;
  if (setting.distribute_size() > 0) return Distribute(setting, client.locality, groups);
  if (!failover && !policy.force_failover) return;
  if (setting.failover_priority_size() > 0) {
    if (by_labels) FailOverByLabels(setting.failover_priority(), client, groups);
    if (setting.failover_size() == 0) return;
  }
  FailOverByDistance(setting, client.locality, groups);
}

LocalityNeeds NeedsOf(const LocalityPolicy& policy, bool failover) {
  LocalityNeeds needs;
  const auto add_labels = [&needs](const auto& setting) {
    needs.by_labels = setting.failover_priority_size() > 0;
    for (const std::string& entry : setting.failover_priority()) {
      if (entry.find('=') == std::string::npos) needs.labels.push_back(entry);
    }
  };
  if (policy.zone_aware != nullptr) {
    if (!policy.ZoneAwareRouting()) return needs;
    needs.locality = true;
    add_labels(*policy.zone_aware);
  } else if (policy.locality != nullptr) {
    const auto& setting = *policy.locality;
    if (setting.distribute_size() > 0) {
      needs.locality = true;
    } else if (failover || policy.force_failover) {
      needs.locality = setting.failover_size() > 0 || setting.failover_priority_size() == 0;
      add_labels(setting);
    }
  }
  return needs;
}

}  // namespace fairlead::gen
