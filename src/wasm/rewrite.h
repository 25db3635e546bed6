#ifndef FAIRLEAD_WASM_REWRITE_H_
#define FAIRLEAD_WASM_REWRITE_H_

#include <google/protobuf/any.pb.h>

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "base/executor.h"
#include "wasm/module_cache.h"

namespace fairlead::wasm {

// What is changed in an extension configuration (envoy.config.core.v3.TypedExtensionConfig, in an Any) before
// a proxy gets it: a Wasm filter, HTTP's or the network's, whose module is elsewhere gets it from a file;
// what the control plane told the agent by the module's environment (ISTIO_META_…) is taken out. Where the
// module cannot be had, a verdict takes the filter's place: what fails open lets everything through, else
// nothing. Any other configuration stays as it is, byte by byte. InvalidArgument where the configuration
// cannot be read; it is then to be refused. Blocks. Thread-safe. Source: Istio's agent (pkg/wasm,
// convert.go), by its behaviour.
absl::Status RewriteExtension(ModuleCache& modules, google::protobuf::Any* resource);

// Rewrites on threads of its own, so many configurations at a time. Thread-safe.
class Rewriter {
 public:
  // `modules` must outlive it.
  Rewriter(ModuleCache* modules, size_t at_a_time) : modules_(modules), executor_("wasm", at_a_time) {}
  // `done` is called once, on one of the threads, with the first error; not where Stop comes first. The
  // resources must live until then.
  void Start(std::vector<google::protobuf::Any*> resources, std::function<void(absl::Status)> done);
  void Stop() { executor_.Stop(); }

 private:
  ModuleCache* const modules_;
  Executor executor_;
};

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_REWRITE_H_
