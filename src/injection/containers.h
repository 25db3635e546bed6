#ifndef FAIRLEAD_INJECTION_CONTAINERS_H_
#define FAIRLEAD_INJECTION_CONTAINERS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

// Reads and changes the containers of a pod in JSON.
namespace fairlead::injection {

inline constexpr char kContainers[] = "containers";
inline constexpr char kInitContainers[] = "initContainers";

// The first element of a list with that name; null where there is none.
const nlohmann::json* FindNamed(const nlohmann::json& list, std::string_view name);
nlohmann::json* FindNamed(nlohmann::json* list, std::string_view name);

// The sidecar of a pod: among its containers, else among its init containers; null where it has none.
const nlohmann::json* FindProxy(const nlohmann::json& pod);
nlohmann::json* FindProxy(nlohmann::json* pod);

// Takes all elements of that name out of a list of the pod's spec.
void RemoveNamed(nlohmann::json* pod, const char* list, std::string_view name);
// Puts the element of that name first or last, if there is one; of several the last one is kept.
enum class End { kFirst, kLast };
void MoveNamed(nlohmann::json* pod, const char* list, std::string_view name, End end);

// An annotation, null where the pod has none of that name.
const std::string* FindAnnotation(const nlohmann::json& pod, std::string_view name);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_CONTAINERS_H_
