#include "config/object.h"

#include "base/strings.h"

namespace fairlead::config {

std::string Describe(const ObjectKey& key) {
  std::string text = StrCat(InfoOf(key.kind).name, " ");
  if (!key.ns.empty()) StrAppend(&text, key.ns.str(), "/");
  StrAppend(&text, key.name.str());
  if (!key.cluster.empty()) StrAppend(&text, " of cluster ", key.cluster.str());
  return text;
}

bool CountsFromEveryCluster(Kind kind) {
  switch (kind) {
    case Kind::kService:
    case Kind::kEndpointSlice:
    case Kind::kPod:
    case Kind::kNode:
    case Kind::kNamespace:
    case Kind::kWorkloadEntry:
    case Kind::kServiceExport:
    case Kind::kServiceImport:
      return true;
    default:
      return false;
  }
}

bool OlderFirst(const ConfigObject& a, const ConfigObject& b) {
  if (a.meta().creation_time != b.meta().creation_time)
    return a.meta().creation_time < b.meta().creation_time;
  if (!(a.name() == b.name())) return a.name() < b.name();
  if (!(a.ns() == b.ns())) return a.ns() < b.ns();
  return a.cluster() < b.cluster();
}

}  // namespace fairlead::config
