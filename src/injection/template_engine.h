#ifndef FAIRLEAD_INJECTION_TEMPLATE_ENGINE_H_
#define FAIRLEAD_INJECTION_TEMPLATE_ENGINE_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace fairlead::injection {

// What the template program is told of a configuration before it runs its templates. Immutable.
struct TemplateSet {
  uint64_t number = 0;       // tells sets apart
  std::string load_request;  // as the program reads it
};
using TemplateSetPtr = std::shared_ptr<const TemplateSet>;

// Runs templates. Thread-safe.
class TemplateEngine {
 public:
  virtual ~TemplateEngine() = default;
  // The program's answer to a set: what it read of the configuration, or why it cannot read it. Blocks.
  virtual absl::StatusOr<nlohmann::json> Load(const TemplateSet& set) = 0;
  // Gets ready for a set that was loaded: its first pod need not wait. Blocks.
  virtual void Prepare(const TemplateSet& set) = 0;
  // The answer to a request to run templates of the set, whose names tell which ones are meant.
  // DeadlineExceeded where a template takes too long, ResourceExhausted where too many wait, Unavailable
  // where the program ended. Blocks for a bounded time.
  virtual absl::StatusOr<nlohmann::json> Run(const TemplateSetPtr& set,
                                             const std::vector<std::string>& templates,
                                             const std::string& request) = 0;
};

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_TEMPLATE_ENGINE_H_
