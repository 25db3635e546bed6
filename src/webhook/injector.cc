#include "webhook/injector.h"

#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "base/thread.h"
#include "injection/typed_json.h"
#include "source/file/read_file.h"
#include "webhook/review_request.h"
#include "webhook/validation.h"

namespace fairlead::webhook {
namespace {

using injection::InjectorTexts;

LogScope injection_log("injection");

constexpr std::chrono::milliseconds kTogether{100};  // files that are written one after the other

struct InjectionMetrics {
  metrics::Counter& requests =
      metrics::GetCounter("sidecar_injection_requests_total", "Requests for injection.");
  metrics::Counter& injected =
      metrics::GetCounter("sidecar_injection_success_total", "Answered requests for injection.");
  metrics::Counter& failed =
      metrics::GetCounter("sidecar_injection_failure_total", "Pods that were refused.");
  metrics::Counter& skipped =
      metrics::GetCounter("sidecar_injection_skip_total", "Pods that were let through as they are.");
  metrics::Histogram& seconds =
      metrics::GetHistogram("sidecar_injection_time_seconds", "Time of an injection.",
                            {.001, .0025, .005, .01, .02, .05, .1, .5, 1, 5});
};

InjectionMetrics& Metrics() {
  static auto& all = *new InjectionMetrics;
  return all;
}

// "market/shop-***" of a pod that has no name before it is made.
std::string NameOf(const injection::Review& review) {
  const auto& object = injection::Member(review.request, "object");
  const auto& metadata = injection::Member(object, "metadata");
  const std::string name = injection::TextOf(metadata, "name");
  return StrCat(injection::TextOf(review.request, "namespace"), "/",
                name.empty() ? StrCat(injection::TextOf(metadata, "generateName"), "***") : name);
}

}  // namespace

void ShowMetrics() {
  Metrics();
  ShowValidationMetrics();
}

Injector::Injector(InjectorOptions options, std::unique_ptr<injection::TemplateEngine> engine)
    : options_(std::move(options)),
      engine_(std::move(engine)),
      watch_(kTogether),
      surroundings_(std::make_shared<const injection::PodSurroundings>()) {}

Injector::~Injector() { Stop(); }

void Injector::Start() {
  ReadFolder();
  thread_ = RequireThread([this] { Run(); });
}

void Injector::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  watch_.Wake();
  if (thread_.joinable()) thread_.join();
}

void Injector::SetTexts(std::string where, InjectorTexts texts) {
  {
    std::lock_guard lock(mutex_);
    where_ = std::move(where);
    texts_ = std::move(texts);
  }
  watch_.Wake();
}

void Injector::SetMesh(model::MeshConfigPtr mesh) {
  {
    std::lock_guard lock(mutex_);
    mesh_ = std::move(mesh);
  }
  watch_.Wake();
}

void Injector::SetSurroundings(SurroundingsPtr surroundings) {
  std::lock_guard lock(mutex_);
  surroundings_ = std::move(surroundings);
}

bool Injector::HasFiles() const {
  std::lock_guard lock(mutex_);
  return files_texts_.has_value();
}

injection::InjectorConfigurationPtr Injector::configuration() const {
  std::lock_guard lock(mutex_);
  return current_;
}

std::string Injector::Awaited() const {
  std::lock_guard lock(mutex_);
  if (has_tried_) return "";
  return files_texts_ ? files_where_ : texts_ ? where_ : "";
}

SurroundingsPtr Injector::surroundings() const {
  std::lock_guard lock(mutex_);
  return surroundings_;
}

// Files that go, or cannot be read for a while, leave what they said.
void Injector::ReadFolder() {
  if (options_.folder.empty()) return;
  const std::string paths[] = {StrCat(options_.folder, "/config"), StrCat(options_.folder, "/values")};
  watch_.Watch({std::begin(paths), std::end(paths)});  // before they are read, so that no change is missed
  absl::StatusOr<std::string> config = source::ReadFile(paths[0]);
  absl::StatusOr<std::string> values = source::ReadFile(paths[1]);
  if (!config.ok() || !values.ok()) return;
  std::lock_guard lock(mutex_);
  files_where_ = options_.folder;
  files_texts_ = InjectorTexts{*std::move(config), *std::move(values)};
}

// What is to be loaded; nothing where that was tried already.
std::optional<Injector::Wanted> Injector::Next() {
  const auto& texts = files_texts_ ? files_texts_ : texts_;
  if (!texts || mesh_ == nullptr) return std::nullopt;
  Wanted wanted{files_texts_ ? files_where_ : where_, *texts, mesh_};
  if (wanted == tried_) return std::nullopt;
  tried_ = wanted;
  return wanted;
}

void Injector::Run() {
  for (;;) {
    ReadFolder();
    std::optional<Wanted> wanted;
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
      wanted = Next();
    }
    const bool done = !wanted || Load(*wanted);
    if (wanted) SetTried();
    if (wanted && done) continue;
    watch_.Wait(done ? Clock::time_point::max() : Clock::now() + options_.retry);
  }
}

void Injector::SetTried() {
  std::lock_guard lock(mutex_);
  has_tried_ = true;
}

// False: it is to be tried again.
bool Injector::Load(const Wanted& wanted) {
  auto loaded = injection::LoadConfiguration(wanted.texts, wanted.mesh, {}, *engine_);
  if (!loaded.ok()) {
    injection_log.Error("{}: {}; {}", wanted.where, FromAbsl(loaded.status().message()),
                        configuration() == nullptr ? "pods wait for a good one" : "the last good one stays");
    // A program that could not answer may do so later; a text that is wrong stays wrong.
    if (absl::IsInvalidArgument(loaded.status())) return true;
    std::lock_guard lock(mutex_);
    tried_ = {};
    return false;
  }
  engine_->Prepare(*(*loaded)->set);
  injection_log.Info("{}: templates {}", wanted.where, Join((*loaded)->templates, ", "));
  {
    std::lock_guard lock(mutex_);
    current_ = *std::move(loaded);
  }
  if (options_.loaded != nullptr) options_.loaded();
  return true;
}

server::HttpResponse Injector::Answer(const server::HttpRequest& request) {
  Metrics().requests.Add();
  if (auto refused = CheckReviewRequest(request)) return *std::move(refused);
  const auto begin = std::chrono::steady_clock::now();
  injection::InjectorConfigurationPtr configuration;
  SurroundingsPtr surroundings;
  {
    std::lock_guard lock(mutex_);
    configuration = current_;
    surroundings = surroundings_;
  }
  if (configuration == nullptr) return {503, "there is no configuration of the injector yet\n"};
  const absl::StatusOr<injection::Review> review = injection::ReadReview(request.body);
  if (!review.ok()) {
    Metrics().failed.Add();
    return JsonResponse(injection::NoReviewText(FromAbsl(review.status().message())));
  }
  injection::PodQuestion question;
  question.object = injection::Member(review->request, "object");
  question.ns = injection::TextOf(review->request, "namespace");
  question.path = request.path;
  const injection::PodAnswer answer = injection::AnswerPod(question, configuration, *surroundings, *engine_);
  if (!answer.allowed) {
    injection_log.Warn("{} is refused: {}", NameOf(*review), answer.error);
    Metrics().failed.Add();
  } else if (answer.patch.is_null()) {
    Metrics().skipped.Add();
  }
  Metrics().injected.Add();
  Metrics().seconds.Observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return JsonResponse(injection::ReviewText(*review, answer));
}

}  // namespace fairlead::webhook
