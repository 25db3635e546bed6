#ifndef FAIRLEAD_CONTROLLERS_GATEWAY_CLASS_WRITER_H_
#define FAIRLEAD_CONTROLLERS_GATEWAY_CLASS_WRITER_H_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "config/store.h"
#include "controllers/look_soon.h"
#include "kube/api_writer.h"
#include "model/features.h"

namespace fairlead::controllers {

// Makes the GatewayClasses that every mesh has, where they are missing, as long as this replica leads. One
// that is there stays as it is; one that is deleted is made again.
// Source: Istio's pilot/pkg/config/kube/gatewaycommon/gatewayclass.go
class GatewayClassWriter {
 public:
  struct View {
    config::ObjectStore objects;
    std::optional<model::Features> features;  // none: nothing was published yet
  };
  struct Options {
    std::function<View()> view;   // on the writer's thread
    std::function<bool()> leads;  // any thread
    std::chrono::milliseconds quiet{100};
    std::chrono::milliseconds retry{30'000};  // after a refusal, and for what is made to be seen
  };
  // The writer must outlive it, or be stopped before it goes.
  GatewayClassWriter(Options options, kube::ApiWriter* writer);

  // Classes may have changed, or this replica leads from now on. Thread-safe.
  void OnPublished() { soon_.Plan(); }

 private:
  void Look();
  void Create(const std::string& name, const std::string& controller, const std::string& description);
  void OnCreated(const std::string& name, const kube::ApiAnswer& answer);

  const Options options_;
  kube::ApiWriter* const writer_;
  LookSoon soon_;
  // Of the writer's thread.
  bool again_ = false;                              // a look is planned for later
  std::map<std::string, Clock::time_point> tried_;  // when a class may be made again
  std::string trouble_;                             // as last logged
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_GATEWAY_CLASS_WRITER_H_
