#include "config/kind.h"

#include "base/strings.h"
#include "config/endpoints.h"

namespace fairlead::config {
namespace {

KindInfo Row(Kind kind, std::string_view group, std::string_view versions, std::string_view plural,
             std::string_view name, bool namespaced, std::string_view payload) {
  KindInfo info{kind, group, Split(versions, ' '), plural, name, namespaced, PayloadType::kStruct, ""};
  constexpr std::string_view kProtoPrefix = "Proto:";
  if (payload.starts_with(kProtoPrefix)) {
    info.payload = PayloadType::kProto;
    info.message = payload.substr(kProtoPrefix.size());
  } else if (payload == "Tree") {
    info.payload = PayloadType::kTree;
  }
  return info;
}

}  // namespace

const std::vector<KindInfo>& AllKinds() {
  static const auto* kinds = new std::vector<KindInfo>{
#define FAIRLEAD_KIND(identifier, group, versions, plural, kind, namespaced, payload) \
  Row(Kind::identifier, group, versions, plural, kind, namespaced, payload),
#include "config/kinds.inc"
#undef FAIRLEAD_KIND
  };
  return *kinds;
}

const KindInfo& InfoOf(Kind kind) { return AllKinds()[static_cast<size_t>(kind)]; }

const KindInfo* FindKind(std::string_view api_version, std::string_view kind) {
  std::string_view group, version = api_version;
  if (const size_t slash = api_version.find('/'); slash != std::string_view::npos) {
    group = api_version.substr(0, slash);
    version = api_version.substr(slash + 1);
  }
  for (const KindInfo& info : AllKinds()) {
    if (info.name != kind || info.group != group) continue;
    for (std::string_view known : info.versions) {
      if (known == version) return &info;
    }
  }
  return api_version == "v1" && kind == EndpointsInfo().name ? &EndpointsInfo() : nullptr;
}

}  // namespace fairlead::config
