#ifndef FAIRLEAD_CONTROLLERS_WEBHOOK_WATCH_H_
#define FAIRLEAD_CONTROLLERS_WEBHOOK_WATCH_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "controllers/webhook_patcher.h"
#include "fetch/client.h"
#include "kube/access.h"
#include "kube/watch_loop.h"

namespace fairlead::controllers {

// Watches the configurations of webhooks with the label istio.io/rev of one revision, on a thread of its own,
// and tells a patcher of them. A server that does not let us is named in the log, and asked again.
class WebhookWatch {
 public:
  struct Options {
    std::string revision = "default";
    bool mutating = true, validating = true;  // which are watched
    kube::WatchLoop::Options loop = {};
  };
  // Client and patcher must outlive it.
  WebhookWatch(Options options, kube::ServerAccess access, fetch::Client* client, WebhookPatcher* patcher);
  ~WebhookWatch();  // as Stop()
  void Start();
  void Stop();

 private:
  class Copy;
  void Run();
  void NoteTrouble(Copy* copy) const;

  const Options options_;
  kube::WatchLoop loop_;
  std::vector<std::unique_ptr<Copy>> copies_;
  std::thread thread_;
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_WEBHOOK_WATCH_H_
