#include "config/endpoints.h"

#include "base/strings.h"

namespace fairlead::config {
namespace {

constexpr std::string_view kMirrorSuffix = "~endpoints";

}  // namespace

const KindInfo& EndpointsInfo() {
  static const auto* info = new KindInfo{Kind::kEndpointSlice, "", {"v1"}, "endpoints", "Endpoints", true,
                                         PayloadType::kStruct, ""};
  return *info;
}

std::string MirrorName(std::string_view name) { return StrCat(name, kMirrorSuffix); }

void LabelMirror(ObjectMeta& meta) {
  std::string service = meta.name.str();
  service.resize(service.size() - kMirrorSuffix.size());
  meta.labels["kubernetes.io/service-name"] = std::move(service);
}

}  // namespace fairlead::config
