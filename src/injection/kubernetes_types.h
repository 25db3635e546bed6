#ifndef FAIRLEAD_INJECTION_KUBERNETES_TYPES_H_
#define FAIRLEAD_INJECTION_KUBERNETES_TYPES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"

// Kubernetes' types of pods and workloads as Go has them: which fields are left out when empty, which lists
// are merged by a key, and the names that messages of errors call types by. Source: kubernetes_types.txt,
// which cmd/fairlead-templates/kubetypes prints.
namespace fairlead::injection {

struct GoStruct;

// The type of a value. Immutable; lives until the program ends.
struct GoType {
  enum class Form : uint8_t {
    kString,
    kBool,
    kInt32,
    kInt64,
    kBytes,
    kStruct,
    kList,
    kMap,
    // They read themselves.
    kIntOrString,
    kQuantity,
    kTime,
    kDuration,
    kRaw,
  };
  Form form = Form::kString;
  bool pointer = false;  // absent is something else than zero
  std::string name;      // as Go prints it, without the pointer: "[]v1.Container"
  const GoStruct* structure = nullptr;
  std::shared_ptr<const GoType> element;  // of a list or map
};

struct GoField {
  std::string name;
  std::string path;  // with the embedded structs that have it: "VolumeSource.emptyDir"
  GoType type;
  bool omit_empty = false;
  bool merge = false;     // a list whose elements are merged
  std::string merge_key;  // "": elements are no mappings
};

struct GoStruct {
  std::string name;          // "Container"
  std::string printed_name;  // "v1.Container"
  std::vector<GoField> fields;

  // As Go's JSON: the exact name, or else one that differs in case alone. Null where there is none.
  const GoField* Find(std::string_view field) const;

  StringMap<size_t> exact, lower;
};

// By the table's name: "core.Pod", "apps.Deployment", "batch.CronJob". Null where there is none. Thread-safe.
const GoStruct* FindGoStruct(std::string_view name);

// core.Pod.
const GoStruct& PodType();
const GoStruct& ContainerType();

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_KUBERNETES_TYPES_H_
