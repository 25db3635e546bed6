#ifndef FAIRLEAD_INJECTION_TEMPLATE_PROGRAM_H_
#define FAIRLEAD_INJECTION_TEMPLATE_PROGRAM_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "injection/template_engine.h"

namespace fairlead::injection {

class TemplateWorker;

struct TemplateProgramOptions {
  std::string path;  // of the program (cmd/fairlead-templates)
  size_t workers = 2;
  std::chrono::milliseconds run_limit{2'000};
  std::chrono::milliseconds load_limit{10'000};
  std::chrono::milliseconds most_wait{5'000};  // for a free worker
  size_t most_waiting = 256;                   // runs at a time beyond the workers
  uint64_t most_memory = uint64_t{512} << 20;  // bytes of one worker
  size_t most_output = 4 << 20;                // bytes of one template's output
};

// Runs templates in processes of their own, which start when first needed. One that takes too long, or ends,
// is replaced. A template that took too long keeps at most one worker busy from then on. Thread-safe.
class TemplateProgram final : public TemplateEngine {
 public:
  explicit TemplateProgram(TemplateProgramOptions options);
  ~TemplateProgram() override;

  absl::StatusOr<nlohmann::json> Load(const TemplateSet& set) override;
  void Prepare(const TemplateSet& set) override;
  absl::StatusOr<nlohmann::json> Run(const TemplateSetPtr& set, const std::vector<std::string>& templates,
                                     const std::string& request) override;

  // The program beside this one's own file; "" where there is none.
  static std::string FindBeside();

 private:
  class Turn;
  std::unique_ptr<TemplateWorker> TakeUnprepared(uint64_t set);
  absl::StatusOr<std::string> AskLoaded(const TemplateSet& set, const std::string& request,
                                        TemplateWorker* worker) const;
  absl::Status BeginSuspects(uint64_t set, const std::vector<std::string>& templates);
  void EndSuspects(uint64_t set, const std::vector<std::string>& templates, bool too_long);

  const TemplateProgramOptions options_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<TemplateWorker>> idle_;
  size_t waiting_ = 0;
  uint64_t newest_set_ = 0;
  std::set<std::string> suspects_, running_suspects_;  // templates of the newest set
};

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_TEMPLATE_PROGRAM_H_
