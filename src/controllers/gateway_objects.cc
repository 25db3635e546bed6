#include "controllers/gateway_objects.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/log.h"
#include "base/strings.h"
#include "config/content_hash.h"
#include "config/read/json_fields.h"

namespace fairlead::controllers {
namespace {

using config::Node;

LogScope deployment_log("gateways");

struct Followed {
  const char *kind, *path;
};
constexpr Followed kFollowed[] = {
    {"Deployment", "/apis/apps/v1/deployments"},
    {"HorizontalPodAutoscaler", "/apis/autoscaling/v2/horizontalpodautoscalers"},
    {"PodDisruptionBudget", "/apis/policy/v1/poddisruptionbudgets"},
    {"Service", "/api/v1/services"},
    {"ServiceAccount", "/api/v1/serviceaccounts"},
};

// Of the metadata what a server writes by itself.
constexpr std::string_view kOfServer[] = {"creationTimestamp", "generation", "managedFields",
                                          "resourceVersion",   "selfLink",   "uid"};

const config::JsonFields& FieldsOfObjects() {
  static const auto* fields = [] {
    auto* made = new config::JsonFields;
    made->Skip({"metadata", "managedFields"});
    return made;
  }();
  return *fields;
}

bool IsOfServer(std::string_view field) {
  return std::find(std::begin(kOfServer), std::end(kOfServer), field) != std::end(kOfServer);
}

}  // namespace

DeployedObject ReadDeployed(Node object) {
  DeployedObject read;
  const Node metadata = object.Find("metadata");
  read.version = metadata.Find("resourceVersion").text();
  read.managed = static_cast<bool>(metadata.Find("labels").Find(kManagedLabel));
  const Node selected = object.Find("spec").Find("selector").Find("matchLabels").Find(kOldSelector);
  read.old_selector = !selected.text().empty();
  const auto add = [&read](std::string_view where, const Node::Entry& entry) {
    read.fingerprint += config::ContentHash().Add(where).Add(entry.key).Add(entry.value.Hash()).value();
  };
  for (const Node::Entry& entry : metadata.entries()) {
    if (!IsOfServer(entry.key)) add("metadata", entry);
  }
  for (const Node::Entry& entry : object.entries()) {
    const bool told = entry.key == "metadata" || entry.key == "status" || entry.key == "kind" ||
                      entry.key == "apiVersion";  // a list has the last two elsewhere
    if (!told) add("", entry);
  }
  return read;
}

// The objects of one kind.
class DeployedObjects::Copy : public kube::ListWatch::Receiver {
 public:
  Copy(DeployedObjects* all, const Followed& followed) : all_(*all), followed_(followed) {}

  void OnListBegin() override { listed_.clear(); }
  void OnObject(Node object) override {
    const DeployedKey key = KeyOf(object);
    listed_.insert(key);
    {
      std::lock_guard lock(all_.mutex_);
      all_.objects_[key] = ReadDeployed(object);
    }
    all_.changed_(key);
  }
  void OnListEnd() override {
    std::vector<DeployedKey> gone;
    {
      std::lock_guard lock(all_.mutex_);
      for (const auto& [key, object] : all_.objects_) {
        if (key.kind == followed_.kind && !listed_.contains(key)) gone.push_back(key);
      }
      for (const DeployedKey& key : gone) all_.objects_.erase(key);
    }
    for (const DeployedKey& key : gone) all_.changed_(key);
    listed_.clear();
  }
  void OnGone(Node object) override {
    const DeployedKey key = KeyOf(object);
    {
      std::lock_guard lock(all_.mutex_);
      all_.objects_.erase(key);
    }
    all_.changed_(key);
  }

 private:
  DeployedKey KeyOf(Node object) const {
    const Node metadata = object.Find("metadata");
    return {followed_.kind, std::string(metadata.Find("namespace").text()),
            std::string(metadata.Find("name").text())};
  }

  DeployedObjects& all_;
  const Followed& followed_;
  std::set<DeployedKey> listed_;
};

DeployedObjects::DeployedObjects(kube::ServerAccess access, fetch::Client* client,
                                 std::function<void(const DeployedKey&)> changed)
    : changed_(std::move(changed)),
      thread_(
          {"deployed", &deployment_log, "edited ones of Gateways are not repaired", {}, [this] { Judge(); }},
          std::move(access), client, Collections()) {
  thread_.Start();
}

std::vector<WatchThread::Collection> DeployedObjects::Collections() {
  std::vector<WatchThread::Collection> all;
  for (const Followed& followed : kFollowed)
    all.push_back({StrCat(followed.kind, "s"), followed.path, "labelSelector=gateway.istio.io%2Fmanaged",
                   &FieldsOfObjects(), std::make_unique<Copy>(this, followed)});
  return all;
}

void DeployedObjects::Judge() {
  const bool settled = thread_.Listed();
  std::lock_guard lock(mutex_);
  settled_ = settled_ || settled;
}

bool DeployedObjects::settled() const {
  std::lock_guard lock(mutex_);
  return settled_;
}

DeployedObject DeployedObjects::Find(const DeployedKey& key) const {
  std::lock_guard lock(mutex_);
  const auto it = objects_.find(key);
  return it == objects_.end() ? DeployedObject() : it->second;
}

}  // namespace fairlead::controllers
