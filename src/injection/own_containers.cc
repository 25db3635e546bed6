#include "injection/own_containers.h"

#include <optional>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "injection/annotations.h"
#include "injection/containers.h"
#include "injection/prometheus.h"
#include "injection/strategic_merge.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

constexpr const char* kLists[] = {kContainers, kInitContainers};

// The status of an earlier injection; nothing where there is none or it cannot be read.
std::optional<Json> EarlierStatus(const Json& pod) {
  const std::string* text = FindAnnotation(pod, kStatus);
  if (text == nullptr) return std::nullopt;
  absl::StatusOr<Json> status = ReadJson(*text);
  if (!status.ok() || !(status->is_object() || status->is_null())) return std::nullopt;
  return *std::move(status);
}

bool Lists(const Json& status, const char* list, std::string_view name) {
  for (const Json& one : Member(status, list)) {
    if (TextOf(one) == name) return true;
  }
  return false;
}

// Whether a status is one that names lists of texts.
bool IsStatus(const Json& status) {
  for (const char* list : {kInitContainers, kContainers, "volumes", "imagePullSecrets"}) {
    const Json& names = Member(status, list);
    if (!names.is_null() && !names.is_array()) return false;
    for (const Json& name : names) {
      if (!name.is_string() && !name.is_null()) return false;
    }
  }
  const Json& revision = Member(status, "revision");
  return revision.is_null() || revision.is_string();
}

// The containers that an earlier injection kept.
absl::StatusOr<Json> Kept(const Json& pod) {
  Json kept = Json::object();
  const std::string* text = FindAnnotation(pod, kOverrides);
  if (text == nullptr) return kept;
  const absl::StatusOr<Json> read = ReadJson(*text);
  if (!read.ok()) return read.status();
  for (const char* list : kLists) {
    const Json& containers = Member(*read, list);
    if (containers.is_null()) continue;
    // Read as a part of a pod, whose types they have.
    const absl::StatusOr<Json> spec = ReadTyped(Json{{list, containers}}, *FindGoStruct("core.PodSpec"));
    if (!spec.ok()) return spec.status();
    kept[list] = Member(*spec, list);
  }
  return kept;
}

class Reapplier {
 public:
  Reapplier(Json merged, const Json& original, const Json& given)
      : merged_(std::move(merged)), original_(original), given_(given) {}

  absl::StatusOr<Json> Apply() {
    absl::StatusOr<Json> kept = Kept(original_);
    if (!kept.ok()) return kept.status();
    kept_ = *std::move(kept);
    const bool again = FindAnnotation(original_, kStatus) != nullptr;
    status_ = EarlierStatus(original_).value_or(Json());
    for (const char* list : kLists) {
      if (absl::Status status = ApplyList(list); !status.ok()) return status;
    }
    if (!again && !applied_.empty()) merged_["metadata"]["annotations"][kOverrides] = JsonText(applied_);
    return std::move(merged_);
  }

 private:
  // A container of the pod's own; a sidecar of its own may stand in either list.
  const Json* Own(const char* list, std::string_view name) const {
    if (const Json* kept = FindNamed(Member(kept_, list), name)) return kept;
    if (const Json* own = FindNamed(Member(original_, "spec", kContainers), name)) return own;
    return list == kContainers ? nullptr : FindNamed(Member(original_, "spec", kInitContainers), name);
  }

  absl::Status ApplyList(const char* list) {
    const std::string_view what = list == kContainers ? "sidecar container" : "sidecar init container";
    for (const Json& container : Member(given_, "spec", list)) {
      const std::string name = TextOf(container, "name");
      if (Lists(status_, list, name)) continue;
      const Json* own = Own(list, name);
      if (own == nullptr) continue;
      Json overlay = *own;
      if (TextOf(overlay, "image") == "auto") overlay.erase("image");
      applied_[list].push_back(overlay);
      Json patch = {{"spec", {{list, Json::array({std::move(overlay)})}}}};
      absl::StatusOr<Json> next = Overlay(merged_, std::move(patch), PodType());
      if (!next.ok())
        return absl::InvalidArgumentError(
            StrCat("failed to apply ", what, ": ", FromAbsl(next.status().message())));
      merged_ = *std::move(next);
    }
    return absl::OkStatus();
  }

  Json merged_;
  const Json& original_;
  const Json& given_;
  Json kept_, status_;
  Json applied_ = Json::object();
};

const Json* FindInit(const Json& pod) {
  const Json& list = Member(pod, "spec", kInitContainers);
  const Json* init = FindNamed(list, kInit);
  return init != nullptr ? init : FindNamed(list, kValidation);
}

// The init container leaves the traffic of the proxy's user alone, and the one that validates runs as that
// user.
void FollowUser(const Json& original, bool transparent_proxy, Json* merged) {
  const Json* own = FindProxy(original);
  if (own == nullptr) return;
  const Json user = Member(*own, "securityContext", "runAsUser");
  const Json group = Member(*own, "securityContext", "runAsGroup");
  Json* init = const_cast<Json*>(FindInit(*merged));
  if ((user.is_null() && group.is_null()) || init == nullptr) return;
  const std::string* mode = FindAnnotation(*merged, kInterceptionMode);
  transparent_proxy = transparent_proxy || (mode != nullptr && *mode == "TPROXY");
  if (transparent_proxy && !user.is_null()) {
    Json* proxy = FindProxy(merged);
    if (proxy == nullptr) return;
    (*proxy)["securityContext"]["runAsUser"] = 0;
  }
  if (!transparent_proxy && TextOf(*init, "name") == kValidation) {
    if (!user.is_null()) (*init)["securityContext"]["runAsUser"] = user;
    if (!group.is_null()) (*init)["securityContext"]["runAsGroup"] = group;
  }
  if (user.is_null() || user == 0 || !init->contains("args")) return;
  Json& args = (*init)["args"];
  for (size_t i = 0; i + 1 < args.size(); ++i) {
    if (args[i] != "-u") continue;
    args[i + 1] = JsonText(user);
    return;
  }
}

}  // namespace

absl::StatusOr<Json> WithoutInjected(const Json& pod, int status_port) {
  Json stripped = pod;
  if (const std::optional<Json> status = EarlierStatus(pod); status && IsStatus(*status)) {
    for (const char* list : kLists) {
      for (const Json& name : Member(*status, list)) RemoveNamed(&stripped, list, TextOf(name));
    }
    if (PrometheusPort(stripped) == StrCat(status_port)) ClearPrometheus(&stripped);
    stripped["metadata"]["annotations"].erase(kStatus);
  }
  const absl::StatusOr<Json> kept = Kept(stripped);
  if (!kept.ok()) return kept.status();
  for (const char* list : kLists) {
    for (const Json& container : Member(*kept, list)) {
      if (FindNamed(Member(stripped, "spec", list), TextOf(container, "name")) == nullptr)
        stripped["spec"][list].push_back(container);
    }
  }
  return stripped;
}

absl::StatusOr<Json> ReapplyOwnContainers(Json merged, const Json& original, const Json& given,
                                          bool transparent_proxy) {
  absl::StatusOr<Json> pod = Reapplier(std::move(merged), original, given).Apply();
  if (pod.ok()) FollowUser(original, transparent_proxy, &*pod);
  return pod;
}

}  // namespace fairlead::injection
