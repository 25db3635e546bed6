#include "controllers/tag_watch.h"

#include <memory>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/percent.h"
#include "base/strings.h"
#include "config/read/json_fields.h"
#include "config/tree.h"
#include "gateway_api/names.h"

namespace fairlead::controllers {
namespace {

using config::Node;
using Tags = std::map<std::string, RevisionTags::Tag>;

LogScope tag_log("tags");

constexpr char kTagLabel[] = "istio.io/tag";
constexpr char kHasTag[] = "labelSelector=istio.io%2Ftag";
constexpr char kDefaultValidator[] = "fieldSelector=metadata.name%3Distiod-default-validator";
constexpr char kDefaultTagHook[] = "istio-revision-tag-default";
constexpr char kHooks[] = "/apis/admissionregistration.k8s.io/v1/";

const config::JsonFields& TagFields() {
  static const auto* fields = [] {
    auto* made = new config::JsonFields;
    made->Only({"metadata", "name"}).Only({"metadata", "resourceVersion"}).Only({"metadata", "labels"});
    made->rest = config::JsonFields::Rest::kRead;  // of a watch's errors the code and the message
    made->Skip({"webhooks"}).Skip({"spec"}).Skip({"status", "loadBalancer"});
    return made;
  }();
  return *fields;
}

std::string NameOf(Node object) { return std::string(object.Find("metadata").Find("name").String()); }

RevisionTags::Tag TagOf(Node object) {
  const Node labels = object.Find("metadata").Find("labels");
  return {std::string(labels.Find(kTagLabel).String()),
          std::string(labels.Find(std::string(gateway_api::kRevisionLabel)).String())};
}

// The tags that point to the revision.
void AddTags(const Tags& tags, const std::string& revision, gateway_api::OwnRevisions* own) {
  for (const auto& [name, tag] : tags) {
    if (tag.revision == revision) own->insert(tag.tag);
  }
}

}  // namespace

gateway_api::OwnRevisions OwnRevisionsOf(const std::string& revision, const RevisionTags& tags) {
  constexpr std::string_view kDefault = gateway_api::kRevision;
  gateway_api::OwnRevisions own{revision};
  AddTags(tags.webhooks, revision, &own);
  AddTags(tags.services, revision, &own);
  bool unlabelled = own.contains(kDefault);
  if (!unlabelled && !tags.webhooks.contains(kDefaultTagHook)) {
    for (const auto& [name, validator] : tags.validators) unlabelled |= validator.revision == revision;
  }
  own.erase("");
  if (unlabelled) own.emplace();
  return own;
}

// What of one collection is there.
class TagWatch::Copy : public kube::ListWatch::Receiver {
 public:
  explicit Copy(Tags* tags) : tags_(tags) {}
  void OnListBegin() override { listed_.clear(); }
  void OnObject(Node object) override {
    listed_.insert(NameOf(object));
    (*tags_)[NameOf(object)] = TagOf(object);
  }
  void OnListEnd() override {
    std::erase_if(*tags_, [this](const auto& entry) { return !listed_.contains(entry.first); });
  }
  void OnGone(Node object) override { tags_->erase(NameOf(object)); }

 private:
  Tags* const tags_;
  std::set<std::string> listed_;
};

TagWatch::TagWatch(Options options, kube::ServerAccess access, fetch::Client* client)
    : options_(std::move(options)),
      thread_({"tags", &tag_log, "no tags of theirs count", options_.loop, [this] { Tell(); }},
              std::move(access), client, Collections()) {}

std::vector<WatchThread::Collection> TagWatch::Collections() {
  std::vector<WatchThread::Collection> all;
  const auto add = [&all](const char* name, std::string path, const char* selector, Tags* tags) {
    all.push_back({name, std::move(path), selector, &TagFields(), std::make_unique<Copy>(tags)});
  };
  add("MutatingWebhookConfigurations", StrCat(kHooks, "mutatingwebhookconfigurations"), kHasTag,
      &tags_.webhooks);
  add("ValidatingWebhookConfigurations", StrCat(kHooks, "validatingwebhookconfigurations"), kDefaultValidator,
      &tags_.validators);
  add("Services", StrCat("/api/v1/namespaces/", PercentEncoded(options_.ns), "/services"), kHasTag,
      &tags_.services);
  return all;
}

// A list that does not come is waited for, unless it cannot come.
void TagWatch::Tell() {
  if (!thread_.Listed()) return;
  gateway_api::OwnRevisions now = OwnRevisionsOf(options_.revision, tags_);
  if (now == told_) return;
  told_ = std::move(now);
  std::vector<std::string> shown;
  for (const std::string& label : told_) shown.push_back(label.empty() ? "none" : label);
  tag_log.Info("objects with these labels istio.io/rev are this control plane's: {}", Join(shown, ", "));
  options_.changed(told_);
}

}  // namespace fairlead::controllers
