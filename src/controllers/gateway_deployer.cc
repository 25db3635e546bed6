#include "controllers/gateway_deployer.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "controllers/metrics.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/discovery_filter.h"

namespace fairlead::controllers {
namespace {

using Json = nlohmann::json;

LogScope deployer_log("gateways");

constexpr std::chrono::seconds kWatchLag{10};  // as the applier's
constexpr std::chrono::seconds kForeign{60};   // between two looks at somebody else's object
constexpr std::chrono::seconds kRepairWindow{60};

std::string Text(const std::pair<std::string, std::string>& name) {
  return StrCat(name.first, "/", name.second);
}

int Number(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

GatewayDeployer::GatewayDeployer(Options options, kube::ServerAccess access, fetch::Client* client,
                                 kube::ApiWriter* writer)
    : options_(std::move(options)), access_(std::move(access)), client_(client), writer_(writer) {
  thread_ = RequireThread([this] { Run(); });
}

GatewayDeployer::~GatewayDeployer() { Stop(); }

void GatewayDeployer::OnPublished() {
  {
    std::lock_guard lock(mutex_);
    published_ = true;
  }
  wake_.notify_all();
}

void GatewayDeployer::Halt() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

void GatewayDeployer::Stop() {
  Halt();
  if (thread_.joinable()) thread_.join();
}

bool GatewayDeployer::MayGoOn() const {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
  }
  return options_.leads();
}

void GatewayDeployer::Run() {
  for (auto next = Clock::time_point::max();; next = Turn()) {
    std::unique_lock lock(mutex_);
    const auto due = [this] { return stopping_ || published_ || !touched_.empty(); };
    next == Clock::time_point::max() ? wake_.wait(lock, due)
                                     : static_cast<void>(wake_.wait_until(lock, next, due));
    if (stopping_) break;
    // What comes together is looked at together.
    wake_.wait_for(lock, options_.quiet, [this] { return stopping_; });
    if (stopping_) break;
    published_ = false;
  }
  Forget();
}

// Does what is due. Returns when there is more to do though nobody calls.
Clock::time_point GatewayDeployer::Turn() {
  if (!options_.leads()) {
    Forget();
    return Clock::time_point::max();
  }
  if (!Begin()) return Clock::now() + options_.patience;
  TakeTouched();
  Plan();
  DeployDue();
  auto next = waits_ ? Clock::now() + options_.patience : Clock::time_point::max();
  for (const auto& [name, known] : known_) next = std::min(next, known.due);
  return next;
}

// Whether it is known what the server has.
bool GatewayDeployer::Begin() {
  if (live_ == nullptr) {
    live_ = std::make_unique<DeployedObjects>(access_, client_, [this](const DeployedKey& key) {
      {
        std::lock_guard lock(mutex_);
        touched_.emplace(key.ns, key.name);
      }
      wake_.notify_all();
    });
    applier_ = std::make_unique<GatewayApplier>(writer_, live_.get(), [this] { return MayGoOn(); });
    AskVersion();
  }
  return live_ != nullptr && live_->settled();
}

void GatewayDeployer::Forget() {
  applier_ = nullptr;
  live_ = nullptr;
  {
    std::lock_guard lock(mutex_);
    touched_.clear();
  }
  known_.clear();
  planned_settings_.reset();
  templates_ = {};
}

// Templates may depend on it: "ge .KubeVersion 128".
void GatewayDeployer::AskVersion() {
  kube::ApiRequest request;
  request.path = "/version";
  const kube::ApiAnswer answer = writer_->SendAndWait(std::move(request));
  const std::optional<Json> version = answer.status.ok() ? ParseJson(answer.body) : std::nullopt;
  if (version && version->is_object()) {
    kubernetes_version_ = Number(JsonString(*version, "major")) * 100 + Number(JsonString(*version, "minor"));
  }
  // A later replacement of the server does not matter: what it can, its successor can.
  if (kubernetes_version_ > 0) return;
  if (!std::exchange(waits_, true))
    deployer_log.Warn("Gateways are not deployed yet: the API server does not tell its version: {}",
                      FromAbsl(answer.status.message()));
  applier_ = nullptr;
  live_ = nullptr;
}

// Of objects that changed, the Gateways are due whose names these are made of.
void GatewayDeployer::TakeTouched() {
  std::set<Name> touched;
  {
    std::lock_guard lock(mutex_);
    touched = std::exchange(touched_, {});
  }
  for (auto& [name, known] : known_) {
    const auto& question = known.plan.question;
    const bool is_touched = touched.contains({name.first, question.deployment_name}) ||
                            touched.contains({name.first, question.service_account}) ||
                            std::any_of(touched.begin(), touched.end(), [&](const Name& one) {
                              return one.first == name.first && one.second.starts_with(name.second);
                            });
    if (!is_touched || known.failures > 0) continue;
    const auto now = Clock::now();
    auto at = now;
    if (known.repairs > options_.free_repairs && now < known.last_repair + kRepairWindow) {
      const size_t doubled = std::min<size_t>(known.repairs - options_.free_repairs - 1, 10);
      at = known.last_repair +
           std::min(options_.first_repair_wait * (1 << doubled), options_.most_repair_wait);
    }
    known.due = std::min(known.due, std::max(at, now));
  }
}

// Finds what has changed for each Gateway.
void GatewayDeployer::Plan() {
  View view = options_.view();
  if (!view.settings) return;
  view.settings->kubernetes_version = kubernetes_version_;
  Templates templates = options_.templates();
  if (templates.configuration == nullptr || templates.engine == nullptr) {
    const bool needed = view.objects.All(config::Kind::kKubernetesGateway).size() > 0;
    if (needed && !std::exchange(waits_, true))
      deployer_log.Warn(
          "Gateways are not deployed yet: the injector has no configuration, whose templates are needed");
    return;
  }
  waits_ = false;
  const bool same_objects =
      planned_settings_ == view.settings && !PlansMayDiffer(planned_objects_, view.objects);
  const bool same_templates = templates.configuration == templates_.configuration &&
                              templates.surroundings == templates_.surroundings;
  if (same_objects && same_templates) return;
  std::map<Name, Known> now;
  const model::DiscoveryFilter namespaces(*templates.configuration->mesh, view.objects);
  for (auto& [key, plan] : PlanGateways(view.objects, *view.settings)) {
    if (!namespaces.Selects(key.ns)) continue;
    const Name name{key.ns.str(), key.name.str()};
    Known& known = now[name];
    if (const auto before = known_.find(name); before != known_.end()) known = std::move(before->second);
    std::string request = GatewayRequest(plan.question, *templates.configuration, *templates.surroundings);
    // The number of the set of templates is in it.
    const bool same = known.request == request && known.plan.error == plan.error &&
                      known.plan.question.overlays == plan.question.overlays;
    if (same) continue;
    known.plan = std::move(plan);
    known.request = std::move(request);
    known.rendered = false;
    known.failures = 0;
    known.due = Clock::now();
  }
  for (const auto& [name, known] : known_) {
    if (!now.contains(name)) applier_->Forget(name.first, name.second);
  }
  known_ = std::move(now);
  planned_objects_ = std::move(view.objects);
  planned_settings_ = std::move(view.settings);
  templates_ = std::move(templates);
}

void GatewayDeployer::DeployDue() {
  for (auto& [name, known] : known_) {
    if (!MayGoOn()) return;
    if (known.due <= Clock::now()) Deploy(name, &known);
  }
}

void GatewayDeployer::Deploy(const Name& name, Known* known) {
  known->due = Clock::time_point::max();
  if (!known->plan.error.empty()) return Complain(name, known, known->plan.error);
  if (!known->rendered && !Render(name, known)) return;
  if (!ApplyAll(name, known)) return;
  known->failures = 0;
  if (!std::exchange(known->trouble, "").empty())
    deployer_log.Info("the Gateway {} is deployed again", Text(name));
}

// A template or an overlay that is wrong stays wrong until it changes.
bool GatewayDeployer::Render(const Name& name, Known* known) {
  absl::StatusOr<std::vector<Json>> objects =
      RenderGateway(known->plan.question, known->request, *templates_.configuration, *templates_.engine);
  if (absl::IsInvalidArgument(objects.status())) {
    Complain(name, known, StrCat("error rendering templates: ", FromAbsl(objects.status().message())));
    return false;
  }
  if (!objects.ok()) {
    Later(name, known, objects.status());
    return false;
  }
  known->objects = *std::move(objects);
  for (Json& object : known->objects) {
    Json& labels = object["metadata"]["labels"];
    if (!labels.is_object()) labels = Json::object();
    std::string controller = known->plan.field_manager;
    std::replace(controller.begin(), controller.end(), '/', '-');
    labels[kManagedLabel] = controller;
  }
  known->rendered = true;
  return true;
}

bool GatewayDeployer::ApplyAll(const Name& name, Known* known) {
  const auto& question = known->plan.question;
  bool repaired = false;
  for (const Json& object : known->objects) {
    const GatewayApplier::Outcome outcome =
        applier_->Apply({object, name.first, name.second, question.deployment_name, question.service_account,
                         known->plan.field_manager});
    const std::string what = StrCat(JsonString(object, "kind"), " ", JsonString(object["metadata"], "name"));
    if (!outcome.status.ok()) {
      Metrics().deployment_errors.Add();
      Later(name, known,
            absl::Status(outcome.status.code(), StrCat(what, ": ", FromAbsl(outcome.status.message()))));
      return false;
    }
    if (outcome.written) {
      Metrics().deployments.Add();
      deployer_log.Info("the Gateway {}: {} {}", Text(name), what, outcome.repaired ? "repaired" : "applied");
    }
    repaired = repaired || outcome.repaired;
    if (outcome.waits) known->due = std::min(known->due, Clock::now() + kWatchLag);
    if (outcome.foreign) {
      known->due = std::min(known->due, Clock::now() + kForeign);
      Complain(name, known,
               StrCat(what, " is there without the label ", kManagedLabel, " and is left alone"));
    }
  }
  if (repaired) NoteRepair(known);
  return known->due == Clock::time_point::max();
}

void GatewayDeployer::NoteRepair(Known* known) const {
  const auto now = Clock::now();
  if (now > known->last_repair + kRepairWindow) known->repairs = 0;
  ++known->repairs;
  known->last_repair = now;
}

void GatewayDeployer::Later(const Name& name, Known* known, const absl::Status& why) {
  if (absl::IsCancelled(why)) return;
  const auto pause =
      std::min(options_.first_retry * (1 << std::min(known->failures, 10)), options_.most_retry);
  known->due = Clock::now() + pause;
  ++known->failures;
  // Somebody else wrote meanwhile: the next try has the newer version.
  if (!absl::IsAborted(why) || known->failures > 3)
    Complain(name, known, std::string(FromAbsl(why.message())));
}

void GatewayDeployer::Complain(const Name& name, Known* known, const std::string& trouble) {
  if (trouble == known->trouble) return;
  known->trouble = trouble;
  deployer_log.Warn("the Gateway {} is not deployed: {}", Text(name), trouble);
}

}  // namespace fairlead::controllers
