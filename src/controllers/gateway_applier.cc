#include "controllers/gateway_applier.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "config/read/json_reader.h"

namespace fairlead::controllers {
namespace {

using kube::ApiAnswer;
using kube::ApiRequest;
using Json = nlohmann::json;
using Outcome = GatewayApplier::Outcome;

constexpr std::chrono::seconds kLimit{5};
// So long an object that was applied may be missing in the copy, or old there.
constexpr std::chrono::seconds kWatchLag{10};

struct Resource {
  std::string_view kind, plural;
};
constexpr Resource kResources[] = {
    {"DaemonSet", "daemonsets"},
    {"Deployment", "deployments"},
    {"HorizontalPodAutoscaler", "horizontalpodautoscalers"},
    {"PodDisruptionBudget", "poddisruptionbudgets"},
    {"Service", "services"},
    {"ServiceAccount", "serviceaccounts"},
};

Outcome Failed(absl::Status status) { return {.status = std::move(status)}; }

const Json& MetadataOf(const Json& object) {
  static const Json& nothing = *new Json(Json::object());
  const auto found = object.find("metadata");
  return found == object.end() || !found->is_object() ? nothing : *found;
}

// What a template may make: an object of these kinds, in the Gateway's namespace, by the names of its
// deployment.
absl::Status Check(const GatewayApplier::Wanted& wanted) {
  const std::string kind = JsonString(wanted.object, "kind");
  const Json& metadata = MetadataOf(wanted.object);
  const std::string ns = JsonString(metadata, "namespace"), name = JsonString(metadata, "name");
  const auto is_kind = [&](const Resource& one) { return one.kind == kind; };
  if (std::none_of(std::begin(kResources), std::end(kResources), is_kind))
    return absl::InvalidArgumentError(StrCat("unexpected object kind \"", kind, "\""));
  if (ns != wanted.ns)
    return absl::InvalidArgumentError(
        StrCat("object namespace \"", ns, "\" does not match gateway namespace \"", wanted.ns, "\""));
  if (name != wanted.deployment_name && name != wanted.service_account && !name.starts_with(wanted.gateway))
    return absl::InvalidArgumentError(StrCat("object name \"", name, "\" is neither \"",
                                             wanted.deployment_name, "\" nor \"", wanted.service_account,
                                             "\", and does not begin with \"", wanted.gateway, "\""));
  return absl::OkStatus();
}

// REQUIRES: Check.
std::string PathOf(const Json& object) {
  const std::string version = JsonString(object, "apiVersion"), kind = JsonString(object, "kind");
  const auto* const found = std::find_if(std::begin(kResources), std::end(kResources),
                                         [&](const Resource& one) { return one.kind == kind; });
  const Json& metadata = MetadataOf(object);
  const std::string collection =
      StrCat(version.find('/') == std::string::npos ? "/api/" : "/apis/", version, "/namespaces/",
             JsonString(metadata, "namespace"), "/", found->plural);
  return kube::ObjectPath(collection, JsonString(metadata, "name"));
}

DeployedObject ReadText(const std::string& text) {
  config::JsonReader reader;
  const absl::StatusOr<config::Tree> tree = reader.Read(text);
  return tree.ok() ? ReadDeployed(tree->root()) : DeployedObject();
}

}  // namespace

ApiAnswer GatewayApplier::Ask(ApiRequest request) const {
  request.limit = kLimit;
  request.valid = valid_;
  return writer_->SendAndWait(std::move(request));
}

// The object as the server has it now. An empty version: there is none.
absl::Status GatewayApplier::FindLive(const std::string& path, DeployedObject* live) const {
  ApiRequest request;
  request.path = path;
  const ApiAnswer answer = Ask(std::move(request));
  if (absl::IsNotFound(answer.status)) return absl::OkStatus();
  if (answer.status.ok()) *live = ReadText(answer.body);
  return answer.status;
}

// A Deployment of an earlier release keeps the selector that it has, with the label for it.
absl::Status GatewayApplier::KeepOldSelector(const std::string& path, Json* object) const {
  ApiRequest request;
  request.path = path;
  const ApiAnswer answer = Ask(std::move(request));
  if (!answer.status.ok()) return answer.status;
  const std::optional<Json> live = ParseJson(answer.body);
  const Json::json_pointer selector("/spec/selector");
  const Json::json_pointer labels("/spec/template/metadata/labels");
  if (!live || !live->contains(selector) || !live->contains(labels)) return absl::OkStatus();
  (*object)[selector] = (*live)[selector];
  (*object)[labels][kOldSelector] = JsonString((*live)[labels], kOldSelector);
  return absl::OkStatus();
}

Outcome GatewayApplier::Apply(const Wanted& wanted) {
  if (absl::Status status = Check(wanted); !status.ok()) return Failed(std::move(status));
  Json object = wanted.object;
  const DeployedKey key{JsonString(object, "kind"), wanted.ns, JsonString(MetadataOf(object), "name")};
  const std::string path = PathOf(object);
  const std::string text = JsonText(object);
  const DeployedObject copy = objects_->Find(key);
  const auto sent = sent_.find(key);
  const bool again = sent != sent_.end() && sent->second.text == text;
  if (again && copy.fingerprint == sent->second.after && !copy.version.empty()) {
    sent->second.seen = true;
    return {};
  }
  const bool late = again && !sent->second.seen && copy.version == sent->second.before;
  if (late && Clock::now() < sent->second.at + kWatchLag) return {.status = absl::OkStatus(), .waits = true};
  DeployedObject live = copy;
  if (live.version.empty()) {
    if (absl::Status status = FindLive(path, &live); !status.ok()) return Failed(std::move(status));
  }
  if (!live.version.empty() && !live.managed) return {.status = absl::OkStatus(), .foreign = true};
  if (live.old_selector && key.kind == "Deployment") {
    if (absl::Status status = KeepOldSelector(path, &object); !status.ok()) return Failed(std::move(status));
  }
  if (!live.version.empty()) object["metadata"]["resourceVersion"] = live.version;
  ApiRequest request{.verb = ApiRequest::Verb::kApply, .path = path, .body = JsonText(object)};
  request.force = true;
  request.manager = wanted.manager;
  const ApiAnswer answer = Ask(std::move(request));
  if (!answer.status.ok()) return Failed(answer.status);
  const DeployedObject after = ReadText(answer.body);
  sent_.insert_or_assign(key, Sent{wanted.gateway, text, copy.version, after.fingerprint, Clock::now()});
  // The server keeps an object's version where an application changes nothing.
  const bool written = after.version != live.version;
  return {.status = absl::OkStatus(), .written = written, .repaired = written && again};
}

void GatewayApplier::Forget(const std::string& ns, const std::string& gateway) {
  std::erase_if(sent_, [&](const auto& one) { return one.first.ns == ns && one.second.gateway == gateway; });
}

}  // namespace fairlead::controllers
