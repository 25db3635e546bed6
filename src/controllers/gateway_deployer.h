#ifndef FAIRLEAD_CONTROLLERS_GATEWAY_DEPLOYER_H_
#define FAIRLEAD_CONTROLLERS_GATEWAY_DEPLOYER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/store.h"
#include "controllers/gateway_applier.h"
#include "controllers/gateway_objects.h"
#include "controllers/gateway_plan.h"
#include "fetch/client.h"
#include "injection/configuration.h"
#include "injection/surroundings.h"
#include "injection/template_engine.h"
#include "kube/access.h"
#include "kube/api_writer.h"

namespace fairlead::controllers {

// Makes a Deployment, a Service and a ServiceAccount for each managed Gateway in an API server, and what else
// its template says, as long as this replica leads. What was edited is repaired; nothing is written where it
// is right. Deletion is the server's work: each object is owned by its Gateway.
//
// A thread of its own does all of it, one Gateway after the other. An object that others change again and
// again is repaired ever less often.
class GatewayDeployer {
 public:
  // The injector's configuration, whose templates make the objects.
  struct Templates {
    injection::InjectorConfigurationPtr configuration;  // null: there is none yet
    std::shared_ptr<const injection::PodSurroundings> surroundings;
    injection::TemplateEngine* engine = nullptr;
  };
  struct View {
    config::ObjectStore objects;
    std::optional<GatewayPlanSettings> settings;  // none: nothing was published yet
  };
  struct Options {
    std::function<View()> view;
    std::function<Templates()> templates;
    std::function<bool()> leads;  // any thread
    // `patience`: between two looks whether the server has told what it has, or templates are there.
    std::chrono::milliseconds quiet{100}, patience{1000};
    std::chrono::milliseconds first_retry{1000}, most_retry{60'000};
    size_t free_repairs = 3;  // of a Gateway within a minute; more of them wait, twice as long each time
    std::chrono::milliseconds first_repair_wait{1000}, most_repair_wait{30'000};
  };
  // The functions are called on the deployer's thread. Writer and client must outlive this.
  GatewayDeployer(Options options, kube::ServerAccess access, fetch::Client* client, kube::ApiWriter* writer);
  ~GatewayDeployer();  // as Stop()

  // Objects, settings or templates may have changed, or this replica leads from now on or no longer.
  // Thread-safe.
  void OnPublished();
  // Nothing more is begun. Thread-safe.
  void Halt();
  // Halts, and waits for the thread. The writer must have stopped, or still be answering.
  void Stop();

 private:
  using Name = std::pair<std::string, std::string>;  // namespace, name
  // A Gateway that is deployed.
  struct Known {
    GatewayPlan plan;
    std::string request;  // to the template program, as it was last run
    injection::TemplateSetPtr set;
    bool rendered = false;
    std::vector<nlohmann::json> objects;
    std::string trouble;  // as last logged
    Clock::time_point due{};
    int failures = 0;  // in a row
    size_t repairs = 0;
    Clock::time_point last_repair{};
  };

  void Run();
  Clock::time_point Turn();
  bool Begin();
  void Forget();
  void TakeTouched();
  void Plan();
  void AskVersion();
  void DeployDue();
  void Deploy(const Name& name, Known* known);
  bool Render(const Name& name, Known* known);
  bool ApplyAll(const Name& name, Known* known);
  void Later(const Name& name, Known* known, const absl::Status& why);
  void Complain(const Name& name, Known* known, const std::string& trouble);
  void NoteRepair(Known* known) const;
  bool MayGoOn() const;

  const Options options_;
  const kube::ServerAccess access_;
  fetch::Client* const client_;
  kube::ApiWriter* const writer_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false, published_ = false;              // guarded by mutex_, as touched_
  std::set<std::pair<std::string, std::string>> touched_;  // namespaces and names of objects that changed
  // What follows is of the thread alone.
  std::unique_ptr<DeployedObjects> live_;  // null: this replica does not lead
  std::unique_ptr<GatewayApplier> applier_;
  int kubernetes_version_ = 0;
  config::ObjectStore planned_objects_;
  std::optional<GatewayPlanSettings> planned_settings_;
  Templates templates_;
  std::map<Name, Known> known_;
  bool waits_ = false;  // for templates, and it was said
  std::thread thread_;
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_GATEWAY_DEPLOYER_H_
