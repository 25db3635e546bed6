#include "controllers/webhook_watch.h"

#include <memory>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/percent.h"
#include "base/strings.h"

namespace fairlead::controllers {
namespace {

LogScope webhook_log("webhook");

}  // namespace

// What of one kind is there. What vanished between two lists is told, too.
class WebhookWatch::Copy : public kube::ListWatch::Receiver {
 public:
  Copy(WebhookKind kind, WebhookPatcher* patcher) : kind_(kind), patcher_(patcher) {}
  void OnListBegin() override { listed_.clear(); }
  void OnObject(config::Node object) override {
    WebhookConfiguration configuration = ReadWebhookConfiguration(kind_, object);
    listed_.insert(configuration.key.name);
    known_.insert(configuration.key.name);
    patcher_->OnConfiguration(std::move(configuration));
  }
  void OnListEnd() override {
    for (const std::string& name : known_) {
      if (!listed_.contains(name)) patcher_->OnGone({kind_, name});
    }
    known_ = listed_;
  }
  void OnGone(config::Node object) override {
    const std::string name(object.Find("metadata").Find("name").String());
    known_.erase(name);
    patcher_->OnGone({kind_, name});
  }

 private:
  const WebhookKind kind_;
  WebhookPatcher* const patcher_;
  std::set<std::string> known_, listed_;
};

WebhookWatch::WebhookWatch(Options options, kube::ServerAccess access, fetch::Client* client,
                           WebhookPatcher* patcher)
    : thread_({"webhooks", &webhook_log, "their caBundle is as it is", options.loop}, std::move(access),
              client, Collections(options, patcher)) {}

std::vector<WatchThread::Collection> WebhookWatch::Collections(const Options& options,
                                                               WebhookPatcher* patcher) {
  std::vector<WatchThread::Collection> all;
  const std::string selector = StrCat("labelSelector=istio.io%2Frev%3D", PercentEncoded(options.revision));
  for (const auto& [wanted, kind] : {std::pair(options.mutating, WebhookKind::kMutating),
                                     std::pair(options.validating, WebhookKind::kValidating)}) {
    if (!wanted) continue;
    all.push_back({std::string(PluralOf(kind)), WebhookCollection(kind), selector, &WebhookFields(),
                   std::make_unique<Copy>(kind, patcher)});
  }
  return all;
}

}  // namespace fairlead::controllers
