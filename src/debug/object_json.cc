#include "debug/object_json.h"

#include <google/protobuf/message.h>

#include <limits>

#include "base/strings.h"
#include "config/read/tree_json.h"
#include "config/tree.h"

namespace fairlead::debug {
namespace {

Json SpecJson(const config::ConfigObject& object, const config::KindInfo& kind) {
  if (kind.payload == config::PayloadType::kTree)
    return config::ToJson(object.Spec<config::Tree>().Find("spec"));
  return MessageJson(kind.message, object.Spec<google::protobuf::Message>().SerializeAsString());
}

}  // namespace

Json LabelsJson(const LabelMap& labels) {
  Json out = Json::object();
  for (const auto& [key, value] : labels) out[std::string(std::string_view(key))] = std::string_view(value);
  return out;
}

std::string AgeText(int64_t unix_seconds) {
  using Limits = std::numeric_limits<int64_t>;
  if (unix_seconds == Limits::max() || unix_seconds == Limits::min()) unix_seconds = 0;
  return TimeText(std::chrono::system_clock::time_point(std::chrono::seconds(unix_seconds)));
}

Json OriginJson(const config::ConfigObject& object) {
  if (object.origin().file.empty()) return nullptr;
  return {{"file", object.origin().file.str()}, {"line", object.origin().line}};
}

Json ObjectJson(const config::ConfigObject& object) {
  const config::KindInfo& kind = config::InfoOf(object.kind());
  const config::ObjectMeta& meta = object.meta();
  Json metadata = {{"name", meta.name.str()}};
  if (!meta.ns.empty()) metadata["namespace"] = meta.ns.str();
  if (!meta.resource_version.empty()) metadata["resourceVersion"] = meta.resource_version;
  if (!meta.uid.empty()) metadata["uid"] = meta.uid;
  if (meta.generation != 0) metadata["generation"] = meta.generation;
  if (meta.creation_time != std::numeric_limits<int64_t>::max()) {
    metadata["creationTimestamp"] = AgeText(meta.creation_time);
  }
  if (!meta.labels.empty()) metadata["labels"] = LabelsJson(meta.labels);
  if (!meta.annotations.empty()) metadata["annotations"] = LabelsJson(meta.annotations);
  Json out = {{"kind", kind.name},
              {"apiVersion", StrCat(kind.group, "/", kind.versions.front())},
              {"metadata", std::move(metadata)},
              {"spec", SpecJson(object, kind)}};
  if (Json origin = OriginJson(object); !origin.is_null()) out["origin"] = std::move(origin);
  return out;
}

}  // namespace fairlead::debug
