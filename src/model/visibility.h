#ifndef FAIRLEAD_MODEL_VISIBILITY_H_
#define FAIRLEAD_MODEL_VISIBILITY_H_

#include <set>
#include <string>
#include <string_view>

namespace fairlead::model {

// A resolved exportTo: where an object of namespace `home` may be seen. "*" everywhere, "." its own
// namespace,
// "~" nowhere, or named namespaces. An empty exportTo is resolved to the mesh's default before it gets here.
struct Visibility {
  bool everywhere = true;
  std::set<std::string, std::less<>>
      namespaces;  // where not everywhere; home is listed by name, "." never; none: "~"

  bool VisibleIn(std::string_view ns) const { return everywhere || namespaces.contains(ns); }
  friend bool operator==(const Visibility&, const Visibility&) = default;
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_VISIBILITY_H_
