#include "config/read/json_fields.h"

#include <vector>

namespace fairlead::config {
namespace {

// What a client wrote there before is the object itself, or nearly so.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

void SkipRecords(JsonFields& fields) {
  fields.Skip({"metadata", "managedFields"});
  fields.Skip({"metadata", "annotations", kLastApplied});
}

// As ReadPod reads them.
JsonFields PodFields() {
  JsonFields fields;
  for (const std::string_view key :
       {"serviceAccountName", "serviceAccount", "nodeName", "hostname", "subdomain", "hostNetwork"})
    fields.Only({"spec", key});
  fields.Only({"spec", "containers", "ports"});
  fields.Only({"spec", "initContainers", "ports"});
  fields.Only({"spec", "initContainers", "restartPolicy"});
  for (const std::string_view key : {"phase", "podIP", "podIPs"}) fields.Only({"status", key});
  fields.Only({"status", "conditions", "type"});
  fields.Only({"status", "conditions", "status"});
  fields.rest = JsonFields::Rest::kRead;  // of a watch's errors the code and the message
  return fields;
}

JsonFields FieldsOf(Kind kind) {
  JsonFields fields;
  if (kind == Kind::kPod) fields = PodFields();
  if (kind == Kind::kNode) {
    fields.Only({"status", "addresses"}).Only({"status", "nodeInfo", "kubeletVersion"}).Skip({"spec"});
    fields.rest = JsonFields::Rest::kRead;
  }
  SkipRecords(fields);
  return fields;
}

}  // namespace

JsonFields& JsonFields::Skip(std::initializer_list<std::string_view> path) {
  JsonFields* at = this;
  for (const std::string_view key : path) at = &at->below[std::string(key)];
  at->read = false;
  return *this;
}

JsonFields& JsonFields::Only(std::initializer_list<std::string_view> path) {
  JsonFields* at = this;
  for (const std::string_view key : path) {
    at->rest = Rest::kSkipped;
    at = &at->below[std::string(key)];
  }
  return *this;
}

const JsonFields* JsonFields::Find(std::string_view key, bool* skipped) const {
  const auto it = below.find(key);
  *skipped = it == below.end() ? rest == Rest::kSkipped : !it->second.read;
  return it == below.end() ? nullptr : &it->second;
}

const JsonFields& StoredFieldsOf(const KindInfo& kind) {
  static const auto* all = [] {
    auto* fields = new std::vector<JsonFields>;
    for (const KindInfo& info : AllKinds()) fields->push_back(FieldsOf(info.kind));
    return fields;
  }();
  return (*all)[static_cast<size_t>(kind.kind)];
}

}  // namespace fairlead::config
