#include "controllers/webhook_watch.h"

#include <pthread.h>

#include <set>
#include <utility>

#include "base/log.h"
#include "base/percent.h"
#include "base/strings.h"
#include "base/thread.h"

namespace fairlead::controllers {
namespace {

using Trouble = kube::ListWatch::Trouble;

LogScope webhook_log("webhook");

constexpr size_t kFewestFailures = 3;  // before a server counts as unreachable

}  // namespace

// What of one kind is there. What vanished between two lists is told, too.
class WebhookWatch::Copy : public kube::ListWatch::Receiver {
 public:
  Copy(WebhookKind kind, WebhookPatcher* patcher) : kind(kind), patcher_(patcher) {}
  void OnListBegin() override { listed_.clear(); }
  void OnObject(config::Node object) override {
    WebhookConfiguration configuration = ReadWebhookConfiguration(kind, object);
    listed_.insert(configuration.key.name);
    known_.insert(configuration.key.name);
    patcher_->OnConfiguration(std::move(configuration));
  }
  void OnListEnd() override {
    for (const std::string& name : known_) {
      if (!listed_.contains(name)) patcher_->OnGone({kind, name});
    }
    known_ = listed_;
  }
  void OnGone(config::Node object) override {
    const std::string name(object.Find("metadata").Find("name").String());
    known_.erase(name);
    patcher_->OnGone({kind, name});
  }

  const WebhookKind kind;
  kube::WatchLoop::Id id = 0;
  std::string trouble;  // last logged

 private:
  WebhookPatcher* const patcher_;
  std::set<std::string> known_, listed_;
};

WebhookWatch::WebhookWatch(Options options, kube::ServerAccess access, fetch::Client* client,
                           WebhookPatcher* patcher)
    : options_(std::move(options)), loop_(options_.loop, std::move(access), client) {
  for (const auto& [wanted, kind] : {std::pair(options_.mutating, WebhookKind::kMutating),
                                     std::pair(options_.validating, WebhookKind::kValidating)}) {
    if (wanted) copies_.push_back(std::make_unique<Copy>(kind, patcher));
  }
}

WebhookWatch::~WebhookWatch() { Stop(); }

void WebhookWatch::Start() {
  thread_ = RequireThread([this] {
    pthread_setname_np(pthread_self(), "webhooks");
    Run();
  });
}

void WebhookWatch::Stop() {
  loop_.Stop();
  if (thread_.joinable()) thread_.join();
}

void WebhookWatch::Run() {
  const std::string selector = StrCat("labelSelector=istio.io%2Frev%3D", PercentEncoded(options_.revision));
  for (const auto& copy : copies_)
    copy->id = loop_.Add(WebhookCollection(copy->kind), &WebhookFields(), copy.get(), selector);
  while (loop_.Run(kube::ListWatch::Time::max())) {
    for (const auto& copy : copies_) NoteTrouble(copy.get());
  }
}

void WebhookWatch::NoteTrouble(Copy* copy) const {
  const kube::ListWatch* watch = loop_.Find(copy->id);
  const bool bad = watch->trouble() == Trouble::kForbidden ||
                   (watch->trouble() != Trouble::kNone && watch->failures() >= kFewestFailures);
  std::string trouble = bad ? watch->trouble_text() : "";
  if (trouble.empty() == copy->trouble.empty()) return;
  if (!trouble.empty())
    webhook_log.Warn("{} cannot be read, so their caBundle is as it is: {}", PluralOf(copy->kind), trouble);
  copy->trouble = std::move(trouble);
}

}  // namespace fairlead::controllers
