#ifndef FAIRLEAD_MESH_INDEX_EXPORT_TO_H_
#define FAIRLEAD_MESH_INDEX_EXPORT_TO_H_

#include <string>
#include <string_view>
#include <vector>

#include "model/visibility.h"

namespace fairlead::mesh {

// Resolves the exportTo of an object of namespace `home`; an empty one means `defaults`. "*" beats "~", which
// beats everything else.
template <typename Strings>
model::Visibility ResolveExportTo(const Strings& export_to, const std::vector<std::string>& defaults,
                                  std::string_view home) {
  model::Visibility visibility{.everywhere = false, .namespaces = {}};
  bool nowhere = false;
  const auto add = [&](std::string_view to) {
    if (to == "*") {
      visibility.everywhere = true;
    } else if (to == "~") {
      nowhere = true;
    } else {
      visibility.namespaces.insert(std::string(to == "." ? home : to));
    }
  };
  if (export_to.empty()) {
    for (const std::string& to : defaults) add(to);
  } else {
    for (const std::string& to : export_to) add(to);
  }
  if (visibility.everywhere || nowhere) visibility.namespaces.clear();
  return visibility;
}

// A mesh-wide default for exportTo as the settings give it: none means everywhere.
template <typename Strings>
std::vector<std::string> DefaultExportTo(const Strings& from_settings) {
  if (from_settings.empty()) return {"*"};
  return {from_settings.begin(), from_settings.end()};
}

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_EXPORT_TO_H_
