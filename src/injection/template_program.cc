#include "injection/template_program.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/files.h"
#include "base/strings.h"
#include "injection/template_worker.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

constexpr char kProgram[] = "fairlead-templates";

std::vector<std::string> CommandOf(const TemplateProgramOptions& options) {
  return {options.path, "-memory", StrCat(options.most_memory), "-output", StrCat(options.most_output)};
}

absl::StatusOr<nlohmann::json> Read(absl::StatusOr<std::string> answer) {
  if (!answer.ok()) return answer.status();
  absl::StatusOr<Json> json = ReadJson(*answer);
  if (!json.ok()) return absl::UnavailableError("the template program's answer cannot be read");
  if (const Json& broken = Member(*json, "broken"); !broken.is_null())
    return absl::UnavailableError(StrCat("the template program refuses a request: ", TextOf(broken)));
  return json;
}

}  // namespace

// Has one worker as long as it lives.
class TemplateProgram::Turn {
 public:
  // Waits for a worker until the deadline.
  Turn(TemplateProgram* program, TemplateWorker::Clock::time_point deadline) : program_(*program) {
    std::unique_lock lock(program_.mutex_);
    if (program_.waiting_ >= program_.options_.most_waiting) return;
    ++program_.waiting_;
    if (program_.freed_.wait_until(lock, deadline, [&] { return !program_.idle_.empty(); })) {
      worker_ = std::move(program_.idle_.back());
      program_.idle_.pop_back();
    }
    --program_.waiting_;
  }
  ~Turn() {
    if (worker_ == nullptr) return;
    {
      std::lock_guard lock(program_.mutex_);
      program_.idle_.push_back(std::move(worker_));
    }
    program_.freed_.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  TemplateWorker* worker() { return worker_.get(); }

 private:
  TemplateProgram& program_;
  std::unique_ptr<TemplateWorker> worker_;
};

TemplateProgram::TemplateProgram(TemplateProgramOptions options) : options_(std::move(options)) {
  for (size_t i = 0; i < options_.workers; ++i)
    idle_.push_back(std::make_unique<TemplateWorker>(CommandOf(options_)));
}

TemplateProgram::~TemplateProgram() = default;

std::string TemplateProgram::FindBeside() {
  std::array<char, 4096> path;
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0 || static_cast<size_t>(size) == path.size()) return "";
  const std::string_view own(path.data(), static_cast<size_t>(size));
  std::string beside = StrCat(own.substr(0, own.rfind('/') + 1), kProgram);
  return access(beside.c_str(), X_OK) == 0 ? beside : "";
}

absl::StatusOr<nlohmann::json> TemplateProgram::Load(const TemplateSet& set) {
  // In a process of its own: the running ones go on with what they have, and a text that breaks it hurts
  // nobody.
  TemplateWorker worker(CommandOf(options_));
  return Read(worker.Ask(set.load_request, TemplateWorker::Clock::now() + options_.load_limit));
}

// An idle worker that has another set, or none; null where there is none.
std::unique_ptr<TemplateWorker> TemplateProgram::TakeUnprepared(uint64_t set) {
  std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(idle_.begin(), idle_.end(), [&](const auto& worker) { return worker->loaded() != set; });
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<TemplateWorker> worker = std::move(*found);
  idle_.erase(found);
  return worker;
}

// One after the other, so that the others go on.
void TemplateProgram::Prepare(const TemplateSet& set) {
  for (size_t i = 0; i < options_.workers; ++i) {
    std::unique_ptr<TemplateWorker> worker = TakeUnprepared(set.number);
    if (worker == nullptr) return;
    if (worker->Ask(set.load_request, TemplateWorker::Clock::now() + options_.load_limit).ok())
      worker->set_loaded(set.number);
    {
      std::lock_guard lock(mutex_);
      idle_.insert(idle_.begin(), std::move(worker));
    }
    freed_.notify_one();
  }
}

absl::Status TemplateProgram::BeginSuspects(uint64_t set, const std::vector<std::string>& templates) {
  std::lock_guard lock(mutex_);
  if (set > newest_set_) {
    newest_set_ = set;
    suspects_.clear();
    running_suspects_.clear();
  }
  if (set != newest_set_) return absl::OkStatus();
  for (const std::string& name : templates) {
    if (running_suspects_.contains(name))
      return absl::ResourceExhaustedError(
          StrCat("the template ", name, " took too long before; another pod waits for it"));
  }
  for (const std::string& name : templates) {
    if (suspects_.contains(name)) running_suspects_.insert(name);
  }
  return absl::OkStatus();
}

void TemplateProgram::EndSuspects(uint64_t set, const std::vector<std::string>& templates, bool too_long) {
  std::lock_guard lock(mutex_);
  if (set != newest_set_) return;
  for (const std::string& name : templates) {
    running_suspects_.erase(name);
    if (too_long) suspects_.insert(name);
  }
}

absl::StatusOr<std::string> TemplateProgram::AskLoaded(const TemplateSet& set, const std::string& request,
                                                       TemplateWorker* worker) const {
  using Clock = TemplateWorker::Clock;
  for (int attempt = 0;; ++attempt) {
    if (worker->pid() == 0 || worker->loaded() != set.number) {
      const auto loaded = worker->Ask(set.load_request, Clock::now() + options_.load_limit);
      if (!loaded.ok()) return loaded.status();
      worker->set_loaded(set.number);
    }
    absl::StatusOr<std::string> answer = worker->Ask(request, Clock::now() + options_.run_limit);
    // Another process than was thought: the one before ended while it had nothing to do.
    if (!answer.ok() || attempt > 0 || !answer->starts_with("{\"unloaded\":true")) return answer;
    worker->set_loaded(0);
  }
}

absl::StatusOr<nlohmann::json> TemplateProgram::Run(const TemplateSetPtr& set,
                                                    const std::vector<std::string>& templates,
                                                    const std::string& request) {
  Turn turn(this, TemplateWorker::Clock::now() + options_.most_wait);
  if (turn.worker() == nullptr) return absl::ResourceExhaustedError("too many pods wait for their templates");
  // Not before: what waited along with a template that took too long does not take its place.
  if (absl::Status status = BeginSuspects(set->number, templates); !status.ok()) return status;
  absl::StatusOr<std::string> answer = AskLoaded(*set, request, turn.worker());
  const bool too_long = absl::IsDeadlineExceeded(answer.status());
  EndSuspects(set->number, templates, too_long);
  if (too_long) {
    return absl::DeadlineExceededError(StrCat("the templates ", Join(templates, ", "), " take longer than ",
                                              options_.run_limit.count(), "ms"));
  }
  return Read(std::move(answer));
}

}  // namespace fairlead::injection
