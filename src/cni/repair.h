#ifndef FAIRLEAD_CNI_REPAIR_H_
#define FAIRLEAD_CNI_REPAIR_H_

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cni/node_options.h"
#include "cni/pod_facts.h"
#include "config/tree.h"
#include "kube/list_watch.h"

namespace fairlead::cni {

// Whether a pod started before its node could redirect its traffic: an init container that checks the rules
// ended with the exit status of failed rules, and has not succeeded since. A pure function.
bool IsBroken(const PodFacts& pod, const NodeOptions& options);

// The selector of a node's pods, for ListWatch.
std::string SelectorOf(const NodeOptions& options);

// Repairs the broken pods of a node as the options say: adds their rules, else deletes them, else labels
// them. A pod is tried five times at most, at growing distances. One thread.
class Repair : public kube::ListWatch::Receiver {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Act = std::function<absl::Status(const PodFacts& pod)>;
  struct Acts {
    Act redirect, erase, label;
  };

  Repair(const NodeOptions& options, Acts acts) : options_(options), acts_(std::move(acts)) {}

  void OnListBegin() override { listed_.clear(); }
  void OnObject(config::Node object) override;
  void OnListEnd() override;
  void OnGone(config::Node object) override;

  // Repairs those that are due.
  void Work(Time now);

  size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    PodFacts pod;
    int attempts = 0;
    Time due = {};
  };
  absl::Status RepairOne(const PodFacts& pod) const;

  const NodeOptions& options_;
  const Acts acts_;
  std::map<std::string, Waiting> waiting_;  // by uid
  std::map<std::string, bool> done_;        // by uid: given up or repaired, until they are gone
  std::map<std::string, bool> listed_;      // by uid: in the list that runs
};

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_REPAIR_H_
