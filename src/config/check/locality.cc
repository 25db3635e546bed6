#include <algorithm>
#include <set>

#include "config/check/parts.h"

namespace fairlead::config::check {
namespace {

bool IsTopologyLabel(std::string_view label) {
  return label == "topology.kubernetes.io/region" || label == "topology.kubernetes.io/zone" ||
         label == "topology.istio.io/subzone";
}

// "region/zone/subzone", shortened on the right; a part that is "*" stands for itself here.
using Parts = std::vector<std::string_view>;
Parts PartsOf(std::string_view locality) {
  Parts parts;
  for (int i = 0; i < 2; ++i) {
    const size_t slash = locality.find('/');
    if (slash == std::string_view::npos) break;
    parts.push_back(locality.substr(0, slash));
    locality.remove_prefix(slash + 1);
  }
  parts.push_back(locality);
  return parts;
}

// Whether the new locality is in one before it, or (as Istio finds it) has the same beginning as a longer
// one.
bool Overlaps(const Parts& parts, const std::vector<Parts>& before) {
  return std::any_of(before.begin(), before.end(), [&](const Parts& other) {
    if (other[0] == "*") return true;
    const size_t common = std::min(parts.size(), other.size());
    if (!std::equal(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(common), other.begin()))
      return other.size() > 1 && parts.size() >= other.size() && other.back() == "*" &&
             std::equal(other.begin(), other.end() - 1, parts.begin());
    return true;
  });
}

void CheckLocalities(const std::vector<std::string_view>& localities, const Spot& at) {
  std::vector<Parts> before;
  for (std::string_view locality : localities) {
    const size_t stars = static_cast<size_t>(std::count(locality.begin(), locality.end(), '*'));
    if (stars > 1 || (stars == 1 && !locality.ends_with('*')))
      return at.Refuse(StrCat("locality \"", locality, "\": a wildcard stands at the end"));
    Parts parts = PartsOf(locality);
    if (std::find(parts.begin(), parts.end(), "") != parts.end())
      return at.Refuse(StrCat("locality \"", locality, "\" has an empty part"));
    if (Overlaps(parts, before)) {
      return at.Error("conflict", StrCat("locality \"", locality, "\" overlaps another one"));
    }
    before.push_back(std::move(parts));
  }
}

template <typename Failover>
void CheckFailover(const Failover& failover, const Spot& at) {
  const std::string& from = failover.from();
  const std::string& to = failover.to();
  if (from == to) at.Error("conflict", "from and to are the same region");
  if ((from + to).find('/') != std::string::npos)
    at.Refuse("a failover is from region to region, without zones");
  if ((from + to).find('*') != std::string::npos) at.Refuse("a failover's regions have no wildcards");
}

template <typename Setting>
void CheckFailovers(const Setting& lb, bool outlier, Warnings warnings, const Spot& at) {
  if ((lb.failover_size() != 0 || lb.failover_priority_size() != 0) && !outlier &&
      warnings == Warnings::kKept)
    at.Warn("no-effect", "without outlierDetection nothing fails over");
  const Spot failovers(at, "failover");
  for (int i = 0; i < lb.failover_size(); ++i)
    CheckFailover(lb.failover(i), Spot(failovers, static_cast<size_t>(i)));
}

// False where the rest is not looked at.
bool CheckDistribute(const net::LocalityLoadBalancerSetting::Distribute& distribute, const Spot& at) {
  uint64_t total = 0;
  std::vector<std::string_view> targets;
  const Spot to(at, "to");
  for (const auto& [locality, weight] : distribute.to()) {
    targets.push_back(locality);
    if (weight == 0 || weight > 100) {
      to.Field(locality).Error("out-of-range", "a weight is in 1..100");
      return false;
    }
    total += weight;
  }
  if (total != 100) {
    to.Error("out-of-range", StrCat("the weights sum up to ", total, ", not 100"));
    return false;
  }
  std::sort(targets.begin(), targets.end());
  CheckLocalities(targets, to);
  return true;
}

}  // namespace

void CheckLocalityLb(const net::LocalityLoadBalancerSetting& lb, bool outlier, Warnings warnings,
                     const Spot& at) {
  if (lb.distribute_size() > 0 && lb.failover_size() > 0)
    return at.Error("conflict", "only one of distribute and failover may be set");
  const bool topology = std::any_of(lb.failover_priority().begin(), lb.failover_priority().end(),
                                    [](const std::string& label) { return IsTopologyLabel(label); });
  if (lb.failover_size() > 0 && topology)
    return at.Field("failoverPriority").Error("conflict", "labels of the topology go not with failover");
  std::vector<std::string_view> sources;
  const Spot distributes(at, "distribute");
  for (int i = 0; i < lb.distribute_size(); ++i) {
    sources.push_back(lb.distribute(i).from());
    if (!CheckDistribute(lb.distribute(i), Spot(distributes, static_cast<size_t>(i)))) return;
  }
  CheckLocalities(sources, distributes);
  CheckFailovers(lb, outlier, warnings, at);
}

void CheckZoneAwareLb(const net::ZoneAwareLoadBalancerSetting& lb, bool outlier, Warnings warnings,
                      const Spot& at) {
  const Spot priorities(at, "failoverPriority");
  for (int i = 0; i < lb.failover_priority_size(); ++i) {
    if (IsTopologyLabel(lb.failover_priority(i))) {
      Spot(priorities, static_cast<size_t>(i))
          .Error("unsupported", "region and zone are looked after already");
    }
  }
  CheckFailovers(lb, outlier, warnings, at);
}

}  // namespace fairlead::config::check
