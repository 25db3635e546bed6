#include "controllers/tag_watch.h"

#include <pthread.h>

#include <set>
#include <utility>

#include "base/log.h"
#include "base/percent.h"
#include "base/strings.h"
#include "base/thread.h"
#include "gateway_api/names.h"

namespace fairlead::controllers {
namespace {

using config::Node;
using Trouble = kube::ListWatch::Trouble;
using Tags = std::map<std::string, RevisionTags::Tag>;

LogScope tag_log("tags");

constexpr char kTagLabel[] = "istio.io/tag";
constexpr char kHasTag[] = "labelSelector=istio.io%2Ftag";
constexpr char kDefaultValidator[] = "fieldSelector=metadata.name%3Distiod-default-validator";
constexpr char kDefaultTagHook[] = "istio-revision-tag-default";
constexpr char kHooks[] = "/apis/admissionregistration.k8s.io/v1/";
constexpr size_t kFewestFailures = 3;  // before a server counts as unreachable

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
  Copy(std::string what, std::string path, std::string selector, Tags* tags)
      : what(std::move(what)), path(std::move(path)), selector(std::move(selector)), tags_(tags) {}
  void OnListBegin() override { listed_.clear(); }
  void OnObject(Node object) override {
    listed_.insert(NameOf(object));
    (*tags_)[NameOf(object)] = TagOf(object);
  }
  void OnListEnd() override {
    std::erase_if(*tags_, [this](const auto& entry) { return !listed_.contains(entry.first); });
  }
  void OnGone(Node object) override { tags_->erase(NameOf(object)); }

  const std::string what, path, selector;
  kube::WatchLoop::Id id = 0;
  std::string trouble;  // last logged

 private:
  Tags* const tags_;
  std::set<std::string> listed_;
};

TagWatch::TagWatch(Options options, kube::ServerAccess access, fetch::Client* client)
    : options_(std::move(options)), loop_(options_.loop, std::move(access), client) {
  const auto add = [this](const char* what, std::string path, const char* selector, Tags* tags) {
    copies_.push_back(std::make_unique<Copy>(what, std::move(path), selector, tags));
  };
  add("MutatingWebhookConfigurations", StrCat(kHooks, "mutatingwebhookconfigurations"), kHasTag,
      &tags_.webhooks);
  add("ValidatingWebhookConfigurations", StrCat(kHooks, "validatingwebhookconfigurations"), kDefaultValidator,
      &tags_.validators);
  add("Services", StrCat("/api/v1/namespaces/", PercentEncoded(options_.ns), "/services"), kHasTag,
      &tags_.services);
}

TagWatch::~TagWatch() { Stop(); }

void TagWatch::Start() {
  thread_ = RequireThread([this] {
    pthread_setname_np(pthread_self(), "tags");
    Run();
  });
}

void TagWatch::Stop() {
  loop_.Stop();
  if (thread_.joinable()) thread_.join();
}

void TagWatch::Run() {
  for (const auto& copy : copies_) copy->id = loop_.Add(copy->path, &TagFields(), copy.get(), copy->selector);
  while (loop_.Run(kube::ListWatch::Time::max())) {
    for (const auto& copy : copies_) NoteTrouble(copy.get());
    Tell();
  }
}

// A list that does not come is waited for, unless it is forbidden.
void TagWatch::Tell() {
  for (const auto& copy : copies_) {
    const kube::ListWatch* watch = loop_.Find(copy->id);
    if (!watch->synced() && watch->trouble() != Trouble::kForbidden) return;
  }
  gateway_api::OwnRevisions now = OwnRevisionsOf(options_.revision, tags_);
  if (now == told_) return;
  told_ = std::move(now);
  std::vector<std::string> shown;
  for (const std::string& label : told_) shown.push_back(label.empty() ? "none" : label);
  tag_log.Info("objects with these labels istio.io/rev are this control plane's: {}", Join(shown, ", "));
  options_.changed(told_);
}

void TagWatch::NoteTrouble(Copy* copy) const {
  const kube::ListWatch* watch = loop_.Find(copy->id);
  const bool bad = watch->trouble() == Trouble::kForbidden ||
                   (watch->trouble() != Trouble::kNone && watch->failures() >= kFewestFailures);
  std::string trouble = bad ? watch->trouble_text() : "";
  if (trouble.empty() == copy->trouble.empty()) return;
  if (!trouble.empty())
    tag_log.Warn("{} cannot be read, so no tags of theirs count: {}", copy->what, trouble);
  copy->trouble = std::move(trouble);
}

}  // namespace fairlead::controllers
