#ifndef FAIRLEAD_APP_WEBHOOKS_H_
#define FAIRLEAD_APP_WEBHOOKS_H_

#include <functional>
#include <memory>
#include <string>

#include "app/discovery_options.h"
#include "base/clock.h"
#include "http2/tls.h"
#include "push/publish/publication.h"
#include "webhook/admission_server.h"
#include "webhook/injector.h"

namespace fairlead::app {

// The webhooks of `fairlead discovery` on --httpsAddr, and all that they decide by. Wanted where there is a
// cluster or the folder of the injector has its files.
class Webhooks {
 public:
  // `options` must outlive it. `loaded`: see InjectorOptions.
  Webhooks(const DiscoveryOptions& options, std::function<void()> loaded);
  ~Webhooks();  // as Stop()

  bool wanted() const { return wanted_; }
  // Takes what is published: settings, the injector's ConfigMap, ProxyConfigs, nodes and namespaces. To be
  // called on one thread. Must not block.
  void OnPublished(const push::Publication& now);
  // The templates that pods wait for, as Injector::Awaited().
  std::string Awaited() const;
  // Listens. A port that cannot be had is logged, and everything else goes on.
  void Open(std::shared_ptr<http2::TlsCredentials> credentials);
  // Goes on answering until then, if it listens at all: an API server may not know yet that others do.
  void Linger(Clock::time_point until) const;
  void Stop();
  // Null without the template program. Lives as long as this.
  webhook::Injector* injector() const { return injector_.get(); }
  int port() const { return server_ == nullptr ? 0 : server_->port(); }  // 0 before Open

 private:
  void TakeTexts(const config::ObjectStore& objects);
  void TakeSurroundings(const push::Publication& now);

  const DiscoveryOptions& options_;
  std::unique_ptr<webhook::Injector> injector_;  // null without the template program
  bool wanted_ = false;
  bool surrounded_ = false;
  config::ConfigPtr config_map_;  // of the texts that were taken last
  std::unique_ptr<webhook::AdmissionServer> server_;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_WEBHOOKS_H_
