#ifndef FAIRLEAD_CNI_PLUGIN_H_
#define FAIRLEAD_CNI_PLUGIN_H_

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cni/plugin_call.h"
#include "cni/pod_facts.h"

namespace fairlead::cni {

// What a plugin's call needs of the world.
struct PluginWorld {
  // The Pod by namespace and name; errors as PodsClient's.
  std::function<absl::StatusOr<PodFacts>(const PluginConfig& config, const PluginCall& call)> find_pod;
  // Applies the options' rules in the call's network namespace, or checks them.
  std::function<absl::Status(const PluginCall& call, redirect::RedirectOptions options)> redirect, verify;
  // Whether the API server can be asked.
  std::function<absl::Status(const PluginConfig& config)> status;
  std::function<void()> pause;  // before one more attempt to find the Pod
};
PluginWorld SystemWorld();

// One call of a container runtime: reads the variables and the configuration, does what is asked, and writes
// the answer. Gives the process's exit status: 0, or 1 after an error, which is written as an answer, too.
// Source: github.com/containernetworking/cni/blob/main/SPEC.md
int AnswerRuntime(const std::function<const char*(const char*)>& variables, const std::string& input,
                  const PluginWorld& world, std::ostream& output);

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_PLUGIN_H_
