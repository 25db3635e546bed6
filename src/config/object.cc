#include "config/object.h"

#include "base/strings.h"

namespace fairlead::config {

std::string Describe(const ObjectKey& key) {
  const std::string_view kind = InfoOf(key.kind).name;
  return key.ns.empty() ? StrCat(kind, " ", key.name.str())
                        : StrCat(kind, " ", key.ns.str(), "/", key.name.str());
}

bool OlderFirst(const ConfigObject& a, const ConfigObject& b) {
  if (a.meta().creation_time != b.meta().creation_time)
    return a.meta().creation_time < b.meta().creation_time;
  if (!(a.name() == b.name())) return a.name() < b.name();
  return a.ns() < b.ns();
}

}  // namespace fairlead::config
