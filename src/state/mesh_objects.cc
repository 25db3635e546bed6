#include "state/mesh_objects.h"

#include <optional>
#include <string_view>
#include <utility>

#include "config/derived_object.h"

namespace fairlead::state {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::ObjectChange;
using config::ObjectKey;

bool SamePlace(const ConfigObject& a, const ConfigObject& b) {
  const config::Origin &one = a.origin(), &other = b.origin();
  return one.file == other.file && one.line == other.line && one.api_version == other.api_version;
}

// The first object that a derived one was made of; nothing where it is none. Source: config/derived_object.h.
std::optional<ObjectKey> ParentOf(const ConfigObject& object) {
  const std::string_view parents = LabelOr(object.meta().annotations, config::kParentsAnnotation);
  const std::string_view first = parents.substr(0, parents.find(','));  // KIND/NAME.NAMESPACE
  const size_t slash = first.find('/'), dot = first.rfind('.');
  if (slash == std::string_view::npos || dot == std::string_view::npos || dot < slash) return std::nullopt;
  for (const config::KindInfo& kind : config::AllKinds()) {
    if (kind.name == first.substr(0, slash))
      return ObjectKey{kind.kind, first.substr(dot + 1), first.substr(slash + 1, dot - slash - 1)};
  }
  return std::nullopt;
}

}  // namespace

ConfigPtr MeshObjects::Find(const ObjectKey& key) const {
  const ConfigPtr* moved = moved_.Find(key);
  return moved != nullptr ? *moved : all_.Find(key);
}

ConfigPtr MeshObjects::FindWritten(const ObjectKey& key) const {
  ConfigPtr object = Find(key);
  if (object == nullptr) return nullptr;
  const auto parent = ParentOf(*object);
  ConfigPtr found = parent ? Find(*parent) : nullptr;
  return found != nullptr ? found : object;
}

std::vector<ConfigPtr> MeshObjects::Written() const {
  std::vector<ConfigPtr> all;
  for (const config::KindInfo& kind : config::AllKinds()) {
    for (const auto& [name, object] : written_.All(kind.kind)) {
      const ConfigPtr* moved = moved_.empty() ? nullptr : moved_.Find(config::KeyOf(*object));
      all.push_back(moved != nullptr ? *moved : object);
    }
  }
  return all;
}

config::Diagnostic MeshObjects::Placed(config::Diagnostic diagnostic) const {
  if (moved_.empty() || !diagnostic.object) return diagnostic;
  const ConfigPtr* moved = moved_.Find(*diagnostic.object);
  if (moved == nullptr) {
    const ConfigPtr made =
        written_.Find(*diagnostic.object) == nullptr ? all_.Find(*diagnostic.object) : nullptr;
    const auto parent = made == nullptr ? std::nullopt : ParentOf(*made);
    if (parent) moved = moved_.Find(*parent);
  }
  if (moved != nullptr) {
    diagnostic.file = (*moved)->origin().file.str();
    diagnostic.line = (*moved)->origin().line;
  }
  return diagnostic;
}

std::vector<ObjectChange> MeshObjects::Write(std::span<const ObjectChange> changes, bool* moved) {
  *moved = false;
  std::vector<ObjectChange> changed = written_.Apply(changes);
  for (const ObjectChange& change : changes) {
    const ConfigPtr known = written_.Find(change.key);
    const bool same = known == nullptr || change.object == nullptr || known == change.object ||
                      SamePlace(*known, *change.object);
    if (same && !moved_.contains(change.key)) continue;
    *moved = true;
    if (same) {
      moved_.Erase(change.key);
    } else {
      moved_.Set(change.key, change.object);
    }
  }
  return changed;
}

}  // namespace fairlead::state
