#ifndef FAIRLEAD_CONTROLLERS_WEBHOOK_WATCH_H_
#define FAIRLEAD_CONTROLLERS_WEBHOOK_WATCH_H_

#include <string>
#include <vector>

#include "controllers/watch_thread.h"
#include "controllers/webhook_patcher.h"
#include "fetch/client.h"
#include "kube/access.h"
#include "kube/watch_loop.h"

namespace fairlead::controllers {

// Watches the configurations of webhooks with the label istio.io/rev of one revision, on a thread of its own,
// and tells a patcher of them.
class WebhookWatch {
 public:
  struct Options {
    std::string revision = "default";
    bool mutating = true, validating = true;  // which are watched
    kube::WatchLoop::Options loop = {};
  };
  // Client and patcher must outlive it.
  WebhookWatch(Options options, kube::ServerAccess access, fetch::Client* client, WebhookPatcher* patcher);
  void Start() { thread_.Start(); }
  void Stop() { thread_.Stop(); }

 private:
  class Copy;
  static std::vector<WatchThread::Collection> Collections(const Options& options, WebhookPatcher* patcher);

  WatchThread thread_;
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_WEBHOOK_WATCH_H_
