#include "model/workload_labels.h"

#include <string>
#include <utility>

#include "base/strings.h"

namespace fairlead::model {
namespace {

void SetIfNotEmpty(LabelMap& labels, std::string_view key, std::string_view value) {
  if (!value.empty()) labels.insert_or_assign(std::string(key), std::string(value));
}

}  // namespace

LabelMap WithTopologyLabels(LabelMap labels, std::string_view cluster, const Locality& locality,
                            std::string_view node, std::string_view network) {
  SetIfNotEmpty(labels, kRegionLabel, locality.region);
  SetIfNotEmpty(labels, kZoneLabel, locality.zone);
  SetIfNotEmpty(labels, kSubzoneLabel, locality.subzone);
  SetIfNotEmpty(labels, kClusterLabel, cluster);
  SetIfNotEmpty(labels, kHostnameLabel, node);
  if (LabelOr(labels, kNetworkLabel).empty()) SetIfNotEmpty(labels, kNetworkLabel, network);
  return labels;
}

std::string LocalityLabelOf(const LabelMap& labels) {
  auto it = labels.find("topology.istio.io/locality");
  if (it == labels.end()) it = labels.find("istio-locality");
  if (it == labels.end()) return "";
  return it->second.find('/') != std::string::npos ? it->second : ReplaceAll(it->second, ".", "/");
}

}  // namespace fairlead::model
