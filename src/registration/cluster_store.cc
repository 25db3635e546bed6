#include "registration/cluster_store.h"

#include <google/protobuf/util/json_util.h>

#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"
#include "kube/served_kinds.h"

namespace fairlead::registration {
namespace {

using config::Kind;
using kube::ApiAnswer;
using kube::ApiRequest;
using Json = nlohmann::json;

constexpr char kNewestVersion[] = "networking.istio.io/v1";
constexpr int kTries = 2;
constexpr std::chrono::seconds kLimit{3};

// An object by its key; an empty one where there is none.
const Json& Below(const Json& object, const char* key) {
  static const auto* none = new Json(Json::object());
  const auto it = object.find(key);
  return it == object.end() || !it->is_object() ? *none : *it;
}

Condition ReadCondition(const Json& json) {
  return {JsonString(json, "type"),
          JsonString(json, "status"),
          JsonString(json, "message"),
          JsonString(json, "lastProbeTime"),
          JsonString(json, "lastTransitionTime"),
          JsonText(json)};
}

std::optional<Entry> ReadEntry(std::string_view text) {
  const std::optional<Json> json = ParseJson(text);
  if (!json || !json->is_object()) return std::nullopt;
  Entry entry;
  const Json& metadata = Below(*json, "metadata");
  for (const auto& [key, value] : Below(metadata, "annotations").items()) {
    if (value.is_string()) entry.annotations.emplace(key, value.get<std::string>());
  }
  entry.service_account = JsonString(Below(*json, "spec"), "serviceAccount");
  entry.version = JsonString(metadata, "resourceVersion");
  const Json& status = Below(*json, "status");
  if (const auto conditions = status.find("conditions"); conditions != status.end()) {
    for (const Json& condition : *conditions) {
      if (condition.is_object()) entry.conditions.push_back(ReadCondition(condition));
    }
  }
  return entry;
}

Json ConditionJson(const Condition& condition) {
  if (!condition.json.empty()) return ParseJson(condition.json).value_or(Json::object());
  Json json = {{"type", condition.type},
               {"status", condition.status},
               {"lastProbeTime", condition.last_probe},
               {"lastTransitionTime", condition.last_transition}};
  if (!condition.message.empty()) json["message"] = condition.message;
  return json;
}

Json EntryJson(const NewEntry& made) {
  std::string spec;
  (void)google::protobuf::util::MessageToJsonString(*made.spec, &spec);
  Json metadata = {{"name", made.name.name}, {"namespace", made.name.ns}, {"annotations", made.annotations}};
  if (!made.labels.empty()) metadata["labels"] = made.labels;
  const config::ConfigObject& group = *made.group;
  // So that the server deletes the entry with its group. A file's object is none that it knows.
  if (!group.meta().uid.empty()) {
    metadata["ownerReferences"] = Json::array({{{"apiVersion", group.origin().api_version.str()},
                                                {"kind", "WorkloadGroup"},
                                                {"name", group.name().str()},
                                                {"uid", group.meta().uid},
                                                {"controller", true}}});
  }
  return {{"apiVersion", group.origin().api_version.str()},
          {"kind", "WorkloadEntry"},
          {"metadata", std::move(metadata)},
          {"spec", ParseJson(spec).value_or(Json::object())}};
}

Json AnnotationPatch(const Step& step, const std::string& version) {
  Json annotations = step.set;
  for (const std::string& key : step.removed) annotations[key] = nullptr;
  return {{"metadata", {{"resourceVersion", version}, {"annotations", std::move(annotations)}}}};
}

Json ConditionPatch(const Step& step, const std::string& version) {
  Json conditions = Json::array();
  for (const Condition& condition : step.conditions) conditions.push_back(ConditionJson(condition));
  return {{"metadata", {{"resourceVersion", version}}}, {"status", {{"conditions", std::move(conditions)}}}};
}

Json DeletionOf(const std::string& version) {
  return {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"resourceVersion", version}}}};
}

ApiRequest RequestOf(const EntryName& name, const Step& step, const std::string& version,
                     const std::string& collection) {
  using Verb = ApiRequest::Verb;
  const std::string path = kube::ObjectPath(collection, name.name);
  ApiRequest request;
  switch (step.kind) {
    case Step::Kind::kCreate:
      request.verb = Verb::kCreate;
      request.path = collection;
      request.body = JsonText(EntryJson(*step.made));
      break;
    case Step::Kind::kAnnotate:
      request.verb = Verb::kMergePatch;
      request.path = path;
      request.body = JsonText(AnnotationPatch(step, version));
      break;
    case Step::Kind::kSetConditions:
      request.verb = Verb::kMergePatch;
      request.path = kube::ObjectPath(collection, name.name, "status");
      request.body = JsonText(ConditionPatch(step, version));
      break;
    case Step::Kind::kDelete:
    case Step::Kind::kNothing:
    case Step::Kind::kRefuse:
      request.verb = Verb::kDelete;
      request.path = path;
      request.body = JsonText(DeletionOf(version));
      break;
  }
  request.tries = kTries;
  request.limit = kLimit;
  return request;
}

}  // namespace

ClusterStore::ClusterStore(Options options, kube::ServerAccess access, fetch::Client* client)
    : objects_(std::move(options.objects)),
      origin_(std::move(options.origin)),
      writer_(options.writer, std::move(access), client) {}

ClusterStore::ClusterStore(Options options, kube::ApiWriter::Transport transport)
    : objects_(std::move(options.objects)),
      origin_(std::move(options.origin)),
      writer_(options.writer, std::move(transport)) {}

bool ClusterStore::Keeps(const config::ConfigObject& entry) const {
  const std::string_view file(entry.origin().file);
  return origin_.empty() ? file.empty() : file.starts_with(origin_);
}

// In a version that the server has.
std::string ClusterStore::Collection(const EntryName& name, const config::ConfigPtr& group) const {
  config::ConfigPtr known = group;
  if (known == nullptr) known = objects_().Find(Kind::kWorkloadEntry, Interned(name.ns), Interned(name.name));
  return kube::CollectionPath(
      config::InfoOf(Kind::kWorkloadEntry),
      known == nullptr ? kNewestVersion : std::string_view(known->origin().api_version), name.ns);
}

void ClusterStore::Read(const EntryName& name, OnRead done) {
  ApiRequest request;
  request.path = kube::ObjectPath(Collection(name, nullptr), name.name);
  request.tries = kTries;
  request.limit = kLimit;
  writer_.Send(std::move(request), [done = std::move(done)](const ApiAnswer& answer) {
    if (absl::IsNotFound(answer.status)) return done(std::optional<Entry>());
    if (!answer.status.ok()) return done(answer.status);
    std::optional<Entry> entry = ReadEntry(answer.body);
    if (!entry) return done(absl::UnavailableError("the API server's answer is no WorkloadEntry"));
    done(std::move(entry));
  });
}

void ClusterStore::Write(const EntryName& name, const Step& step, const Entry* read, OnWritten done) {
  const std::string collection = Collection(name, step.made ? step.made->group : nullptr);
  writer_.Send(RequestOf(name, step, read == nullptr ? "" : read->version, collection),
               [done = std::move(done)](const ApiAnswer& answer) { done(answer.status); });
}

}  // namespace fairlead::registration
