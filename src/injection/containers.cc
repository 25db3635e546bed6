#include "injection/containers.h"

#include <utility>

#include "injection/annotations.h"
#include "injection/typed_json.h"

namespace fairlead::injection {

const Json* FindNamed(const Json& list, std::string_view name) {
  for (const Json& element : list) {
    if (TextOf(element, "name") == name) return &element;
  }
  return nullptr;
}

Json* FindNamed(Json* list, std::string_view name) {
  return const_cast<Json*>(FindNamed(std::as_const(*list), name));
}

const Json* FindProxy(const Json& pod) {
  const Json* proxy = FindNamed(Member(pod, "spec", kContainers), kProxy);
  return proxy != nullptr ? proxy : FindNamed(Member(pod, "spec", kInitContainers), kProxy);
}

Json* FindProxy(Json* pod) { return const_cast<Json*>(FindProxy(std::as_const(*pod))); }

void RemoveNamed(Json* pod, const char* list, std::string_view name) {
  const Json& all = Member(*pod, "spec", list);
  if (FindNamed(all, name) == nullptr) return;
  Json kept = Json::array();
  for (const Json& element : all) {
    if (TextOf(element, "name") != name) kept.push_back(element);
  }
  (*pod)["spec"][list] = std::move(kept);
}

void MoveNamed(Json* pod, const char* list, std::string_view name, End end) {
  Json moved;
  for (const Json& element : Member(*pod, "spec", list)) {
    if (TextOf(element, "name") == name) moved = element;
  }
  if (moved.is_null()) return;
  RemoveNamed(pod, list, name);
  Json& all = (*pod)["spec"][list];
  all.insert(end == End::kFirst ? all.begin() : all.end(), std::move(moved));
}

const std::string* FindAnnotation(const Json& pod, std::string_view name) {
  return Member(Member(pod, "metadata", "annotations"), name).get_ptr<const std::string*>();
}

}  // namespace fairlead::injection
