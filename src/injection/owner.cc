#include "injection/owner.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

// NAME of NAME-HASH, where the label tells the hash; "" where it does not.
std::string WithoutHash(const std::string& name, const Json& labels, std::string_view label) {
  const std::string hash = TextOf(labels, label);
  if (hash.empty() || !name.ends_with(hash)) return "";
  const std::string suffix = "-" + hash;
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

// NAME of NAME-SCHEDULED, the minutes or seconds at which a CronJob made it; "" where it is none.
std::string CronJobName(const std::string& job) {
  const size_t dash = job.rfind('-');
  if (dash == std::string::npos || dash == 0) return "";
  const std::string_view digits = std::string_view(job).substr(dash + 1);
  const bool time = digits.size() >= 8 && digits.size() <= 10 &&
                    std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return time ? job.substr(0, dash) : "";
}

void GoBeyond(const Json& labels, Owner* owner) {
  if (owner->kind == "ReplicaSet") {
    if (std::string name = WithoutHash(owner->name, labels, "pod-template-hash"); !name.empty()) {
      owner->name = std::move(name);
      owner->kind = "Deployment";
    } else if (name = WithoutHash(owner->name, labels, "rollouts-pod-template-hash"); !name.empty()) {
      owner->name = std::move(name);
      owner->kind = "Rollout";
      owner->api_version = "v1alpha1";
    }
  } else if (owner->kind == "ReplicationController") {
    if (std::string name = TextOf(labels, "deploymentconfig"); !name.empty()) {
      owner->name = std::move(name);
      owner->kind = "DeploymentConfig";
    }
  } else if (owner->kind == "Job") {
    if (std::string name = CronJobName(owner->name); !name.empty()) {
      owner->name = std::move(name);
      owner->kind = "CronJob";
      owner->api_version = "batch/v1";
    }
  }
}

}  // namespace

Owner OwnerOf(const Json& pod) {
  const Json& metadata = Member(pod, "metadata");
  Owner owner;
  owner.name = TextOf(metadata, "name");
  owner.ns = TextOf(metadata, "namespace");
  if (!TextOf(metadata, "generateName").empty()) {
    for (const Json& reference : Member(metadata, "ownerReferences")) {
      if (Member(reference, "controller") != true) continue;
      owner.api_version = TextOf(reference, "apiVersion");
      owner.kind = TextOf(reference, "kind");
      owner.name = TextOf(reference, "name");
      GoBeyond(Member(metadata, "labels"), &owner);
      break;
    }
  }
  if (owner.name.empty()) owner.name = TextOf(metadata, "name");
  return owner;
}

}  // namespace fairlead::injection
