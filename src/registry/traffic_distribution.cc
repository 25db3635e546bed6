#include "registry/traffic_distribution.h"

#include <optional>

#include "base/strings.h"

namespace fairlead::registry {
namespace {

using model::TrafficDistribution;

constexpr std::string_view kAnnotation = "networking.istio.io/traffic-distribution";

std::optional<TrafficDistribution> FromAnnotation(const LabelMap& annotations) {
  const std::string_view value = LabelOr(annotations, kAnnotation);
  if (value.empty()) return std::nullopt;
  if (EqualsIgnoreCase(value, "PreferClose") || EqualsIgnoreCase(value, "PreferSameZone")) {
    return TrafficDistribution::kPreferSameZone;
  }
  if (EqualsIgnoreCase(value, "PreferSameNode")) return TrafficDistribution::kPreferSameNode;
  return TrafficDistribution::kAny;
}

}  // namespace

TrafficDistribution ResolveTrafficDistribution(std::string_view field, const LabelMap& annotations,
                                               const LabelMap* namespace_annotations) {
  if (field == "PreferClose" || field == "PreferSameZone") return TrafficDistribution::kPreferSameZone;
  if (field == "PreferSameNode") return TrafficDistribution::kPreferSameNode;
  if (const auto own = FromAnnotation(annotations)) return *own;
  if (namespace_annotations == nullptr) return TrafficDistribution::kAny;
  return FromAnnotation(*namespace_annotations).value_or(TrafficDistribution::kAny);
}

}  // namespace fairlead::registry
