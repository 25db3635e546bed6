#ifndef FAIRLEAD_CONTROLLERS_VERDICT_SWEEP_H_
#define FAIRLEAD_CONTROLLERS_VERDICT_SWEEP_H_

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "config/store.h"
#include "gateway_api/status/proxy_verdicts.h"
#include "kube/api_writer.h"

namespace fairlead::controllers {

// Finds conditions of proxies' verdicts that an earlier leader left on objects whose statuses are not kept in
// memory: lists those kinds once, some time after this replica became leader, when proxies of the earlier one
// have come over.
class VerdictSweep {
 public:
  struct Options {
    std::function<bool()> leads;                   // any thread
    std::function<config::ObjectStore()> objects;  // on the writer's thread
    std::vector<gateway_api::VerdictCondition> verdicts;
    // Has such a condition in the API server; on the writer's thread.
    std::function<void(const config::ConfigPtr&)> found;
    std::chrono::milliseconds delay{60'000};
    size_t chunk = 200;  // objects asked for at once
  };
  // The writer must outlive it, or be stopped before it goes.
  VerdictSweep(Options options, kube::ApiWriter* writer);

  // This replica leads from now on. Thread-safe.
  void OnLeading();

 private:
  // A collection, and where its next chunk begins.
  struct Place {
    config::Kind kind;
    std::string path, next;
    size_t chunk;
  };
  void Start();
  void Ask();
  void OnList(const kube::ApiAnswer& answer);
  void Look(config::Kind kind, const nlohmann::json& item) const;

  const Options options_;
  kube::ApiWriter* const writer_;
  // Of the writer's thread.
  config::ObjectStore objects_;
  std::deque<Place> places_;
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_VERDICT_SWEEP_H_
