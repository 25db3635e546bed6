#include "source/cluster/cluster_source.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "config/read/json_fields.h"
#include "config/read/no_effect.h"

namespace fairlead::source {
namespace {

using config::KindInfo;
using Trouble = kube::ListWatch::Trouble;

LogScope kube_log("kube");

// Nobody serves proxies out of these, and they are large or many. Source: Istio's NewCredentialsController.
constexpr char kSecretSelector[] =
    "fieldSelector=type!%3Dhelm.sh%2Frelease.v1%2Ctype!%3Dkubernetes.io%2Fservice-account-token";

// A server that is busy for a moment is nobody's concern.
constexpr size_t kFewestFailures = 3;

// "Gateway of gateway.networking.k8s.io", as there are several kinds of a name.
std::string NameOf(const KindInfo& kind) {
  return kind.group.empty() ? std::string(kind.name) : StrCat(kind.name, " of ", kind.group);
}

// All kinds; those of multi-cluster services may have another group. The texts must outlive the rows.
std::vector<KindInfo> KindsOf(const ClusterSource::Options& options) {
  std::vector<KindInfo> kinds = config::AllKinds();
  for (KindInfo& kind : kinds) {
    if (kind.kind != config::Kind::kServiceExport && kind.kind != config::Kind::kServiceImport) continue;
    kind.group = options.mcs_group;
    std::erase(kind.versions, std::string_view(options.mcs_version));
    kind.versions.insert(kind.versions.begin(), options.mcs_version);
  }
  return kinds;
}

config::Diagnostic ClusterDiagnostic(std::string code, std::string message) {
  config::Diagnostic diagnostic;
  diagnostic.code = std::move(code);
  diagnostic.message = std::move(message);
  return diagnostic;
}

}  // namespace

// What the watch of CustomResourceDefinitions says.
class ClusterSource::Definitions : public kube::ListWatch::Receiver {
 public:
  explicit Definitions(kube::ServedKinds* served) : served_(served) {}
  void OnListBegin() override { served_->BeginDefinitions(); }
  void OnObject(config::Node object) override {
    served_->SetDefinition(object);
    changed_ = true;
  }
  void OnListEnd() override {
    served_->EndDefinitions();
    changed_ = true;
  }
  void OnGone(config::Node object) override {
    served_->RemoveDefinition(object);
    changed_ = true;
  }
  bool TakeChanged() { return std::exchange(changed_, false); }

  kube::WatchLoop::Id watch = 0;

 private:
  kube::ServedKinds* const served_;
  bool changed_ = false;
};

// One kind that the server has, or had.
struct ClusterSource::Reflector {
  Reflector(const KindInfo& kind, const Options& options)
      : copy(kind, options.cluster, options.deny_lost,
             kind.group.ends_with("istio.io") ? options.revision : std::string()) {}
  KindCopy copy;
  std::string api_version;        // "": it is not served
  kube::WatchLoop::Id watch = 0;  // 0: likewise
  bool told_synced = false;
};

ClusterSource::ClusterSource(Options options, fetch::Client* client)
    : options_(std::move(options)),
      loop_(options_.loop, options_.access, client),
      all_kinds_(KindsOf(options_)) {}

ClusterSource::~ClusterSource() { Stop(); }

std::string ClusterSource::Name() const { return StrCat("the API server ", options_.access.server); }

std::string ClusterSource::Amount() const {
  std::lock_guard lock(mutex_);
  return StrCat(kinds_, kinds_ == 1 ? " kind" : " kinds", " of ", options_.access.server);
}

std::vector<std::string> ClusterSource::Awaited() const {
  std::lock_guard lock(mutex_);
  return awaited_;
}

void ClusterSource::SetAwaited(std::vector<std::string> awaited) {
  std::lock_guard lock(mutex_);
  awaited_ = std::move(awaited);
  kinds_ = static_cast<size_t>(std::count_if(reflectors_.begin(), reflectors_.end(),
                                             [](const auto& entry) { return entry.second->watch != 0; }));
}

absl::Status ClusterSource::Start(Sink* sink) {
  sink_ = sink;
  auto thread = StartThread([this] {
    pthread_setname_np(pthread_self(), "cluster");
    Run();
  });
  if (thread.ok()) thread_ = std::move(*thread);
  return thread.status();
}

void ClusterSource::Stop() {
  loop_.Stop();
  if (thread_.joinable()) thread_.join();
}

// Whether definitions cannot be watched.
bool ClusterSource::MustAskAgain() const {
  const kube::ListWatch* watch = loop_.Find(definitions_->watch);
  return watch != nullptr &&
         (watch->trouble() == Trouble::kForbidden || watch->trouble() == Trouble::kNotServed);
}

void ClusterSource::Run() {
  if (!Discover()) return;
  definitions_ = std::make_unique<Definitions>(&served_);
  if (options_.watch_definitions)
    definitions_->watch = loop_.Add(kube::kDefinitionsPath, &kube::DefinitionFields(), definitions_.get());
  Reconcile();
  do {
    if (MustAskAgain() && discovered_ + options_.rediscover <= kube::ListWatch::Clock::now()) {
      discovered_ = kube::ListWatch::Clock::now();
      if (AskWhatIsServed().ok()) Reconcile();
    }
    if (definitions_->TakeChanged()) Reconcile();
    Flush();
  } while (loop_.Run(discovered_ + options_.rediscover > kube::ListWatch::Clock::now()
                         ? discovered_ + options_.rediscover
                         : Time::max()));
}

// Until the server has said what it serves; false: stopped before.
bool ClusterSource::Discover() {
  std::chrono::milliseconds pause(100);
  for (;;) {
    const absl::Status status = AskWhatIsServed();
    discovered_ = kube::ListWatch::Clock::now();
    if (status.ok()) return true;
    if (absl::IsCancelled(status)) return false;
    std::string trouble(FromAbsl(status.message()));
    if (trouble != discovery_trouble_) kube_log.Warn("{}: {}", Name(), trouble);
    discovery_trouble_ = std::move(trouble);
    SetAwaited({discovery_trouble_});
    sink_->OnDiagnostics(
        {ClusterDiagnostic("unreachable-cluster", StrCat(Name(), ": ", discovery_trouble_))});
    told_revision_ = 0;
    const auto until = kube::ListWatch::Clock::now() + pause;
    while (kube::ListWatch::Clock::now() < until) {
      if (!loop_.Run(until)) return false;
    }
    pause = std::min(pause * 2, std::chrono::milliseconds(5000));
  }
}

absl::Status ClusterSource::AskWhatIsServed() {
  kube::ServedKinds served = served_;
  served.ForgetDiscovered();
  std::swap(served, served_);
  for (const char* path : {"/api", "/apis"}) {
    absl::StatusOr<config::Tree> answer = loop_.Get(path, kube::kDiscoveryAccept);
    absl::Status status = answer.status();
    if (answer.ok() && !served_.AddAggregated(answer->root()) && std::string_view(path) == "/apis")
      status = AskGroups(answer->root());
    if (!status.ok()) {
      std::swap(served, served_);
      return status;
    }
  }
  discovery_trouble_.clear();
  return absl::OkStatus();
}

// Of a server without aggregated discovery.
absl::Status ClusterSource::AskGroups(config::Node groups) {
  for (const std::string& path : served_.PathsOf(groups)) {
    const absl::StatusOr<config::Tree> answer = loop_.Get(path);
    if (absl::IsNotFound(answer.status())) continue;
    if (!answer.ok()) return answer.status();
    served_.AddResources(answer->root());
  }
  return absl::OkStatus();
}

// Follows what is served, and nothing else.
void ClusterSource::Reconcile() {
  for (const KindInfo& kind : all_kinds_) {
    if (options_.ignored.contains(kind.kind)) continue;
    const std::string api_version = served_.ApiVersionOf(kind);
    auto it = reflectors_.find(kind.kind);
    if (it == reflectors_.end()) {
      if (api_version.empty()) continue;
      it = reflectors_.emplace(kind.kind, std::make_unique<Reflector>(kind, options_)).first;
    }
    Reflector& reflector = *it->second;
    if (reflector.api_version == api_version) continue;
    if (api_version.empty()) {
      LetGo(reflector);
    } else {
      Follow(reflector, api_version);
    }
  }
}

// Another version has the same objects: those of before stay until they are listed.
void ClusterSource::Follow(Reflector& reflector, const std::string& api_version) {
  const KindInfo& kind = reflector.copy.kind();
  if (synced_) kube_log.Info("{} is read in version {}", NameOf(kind), api_version);
  loop_.Remove(reflector.watch);
  reflector.api_version = api_version;
  reflector.copy.SetApiVersion(api_version);
  reflector.watch = loop_.Add(kube::CollectionPath(kind, api_version, options_.only_namespace),
                              &config::StoredFieldsOf(kind), &reflector.copy,
                              kind.kind == config::Kind::kSecret ? kSecretSelector : "");
}

void ClusterSource::LetGo(Reflector& reflector) {
  kube_log.Info("{} is served no longer", NameOf(reflector.copy.kind()));
  loop_.Remove(reflector.watch);
  reflector.watch = 0;
  reflector.api_version.clear();
  reflector.copy.Clear();
}

// What came since the last time takes effect together.
void ClusterSource::Flush() {
  std::vector<config::ObjectChange> changes;
  for (const auto& [kind, reflector] : reflectors_) {
    std::vector<config::ObjectChange> more = reflector->copy.TakeChanges();
    if (changes.empty()) {
      changes = std::move(more);
    } else {
      changes.insert(changes.end(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
    }
  }
  if (!changes.empty()) sink_->OnChanges(std::move(changes));
  NoteTroubles();
  Tell();
  if (synced_) return;
  std::vector<std::string> awaited;
  synced_ = HasSynced(&awaited);
  SetAwaited(std::move(awaited));
  if (synced_) sink_->OnSynced();
}

bool ClusterSource::HasSynced(std::vector<std::string>* awaited) const {
  const kube::ListWatch* definitions = loop_.Find(definitions_->watch);
  if (definitions != nullptr && !definitions->synced() && !MustAskAgain())
    awaited->push_back(StrCat("CustomResourceDefinition ", definitions->trouble_text()));
  for (const auto& [kind, reflector] : reflectors_) {
    const kube::ListWatch* watch = loop_.Find(reflector->watch);
    if (watch == nullptr) continue;
    if (watch->synced()) {
      if (!std::exchange(reflector->told_synced, true)) sink_->Synced(kind);
    } else if (watch->trouble() != Trouble::kNotServed &&
               !(watch->trouble() == Trouble::kForbidden && options_.optional.contains(kind))) {
      awaited->push_back(StrCat(NameOf(reflector->copy.kind()), watch->trouble_text().empty() ? "" : " ",
                                watch->trouble_text()));
    }
  }
  return awaited->empty();
}

// Says each trouble once, and when it is over. What befalls the server as a whole is one.
void ClusterSource::NoteTroubles() {
  std::map<config::Kind, std::string> now;
  std::string unreachable;
  for (const auto& [kind, reflector] : reflectors_) {
    const kube::ListWatch* watch = loop_.Find(reflector->watch);
    if (watch == nullptr || watch->trouble() == Trouble::kNone || watch->trouble() == Trouble::kNotServed)
      continue;
    if (watch->trouble() == Trouble::kForbidden) {
      now.emplace(kind, watch->trouble_text());
    } else if (unreachable.empty() && watch->failures() >= kFewestFailures) {
      unreachable = StrCat(NameOf(reflector->copy.kind()), ": ", watch->trouble_text());
    }
  }
  for (const auto& [kind, text] : now) {
    if (!troubles_.contains(kind)) kube_log.Warn("{} cannot be read: {}", NameOf(config::InfoOf(kind)), text);
  }
  if (const bool blind = MustAskAgain(); blind != std::exchange(definitions_blind_, blind) && blind)
    kube_log.Warn("CustomResourceDefinitions cannot be read: {}; a new kind is seen within {} s",
                  loop_.Find(definitions_->watch)->trouble_text(),
                  std::chrono::duration_cast<std::chrono::seconds>(options_.rediscover).count());
  if (!unreachable.empty() && unreachable_.empty()) kube_log.Warn("{} has no news: {}", Name(), unreachable);
  if (unreachable.empty() && !unreachable_.empty()) kube_log.Info("{} has news again", Name());
  const bool same_kinds = std::equal(now.begin(), now.end(), troubles_.begin(), troubles_.end(),
                                     [](const auto& a, const auto& b) { return a.first == b.first; });
  if (!same_kinds || unreachable.empty() != unreachable_.empty()) told_revision_ = 0;
  troubles_ = std::move(now);
  unreachable_ = std::move(unreachable);
}

void ClusterSource::Tell() {
  uint64_t revision = 1;
  for (const auto& [kind, reflector] : reflectors_) revision += reflector->copy.diagnostics_revision();
  if (revision == told_revision_) return;
  told_revision_ = revision;
  sink_->OnDiagnostics(Diagnostics());
}

std::vector<config::Diagnostic> ClusterSource::Diagnostics() const {
  std::vector<config::Diagnostic> all;
  for (const auto& [kind, text] : troubles_) {
    all.push_back(ClusterDiagnostic(
        "forbidden-kind", StrCat(NameOf(config::InfoOf(kind)), " cannot be read from ", Name(), ": ", text)));
  }
  if (!unreachable_.empty()) {
    all.push_back(ClusterDiagnostic("unreachable-cluster", StrCat(Name(), " has no news: ", unreachable_,
                                                                  "; what it said last is in effect")));
  }
  for (const auto& [kind, reflector] : reflectors_) reflector->copy.AddDiagnostics(&all);
  std::erase_if(all, [this](const config::Diagnostic& one) {
    return one.code == config::kNoEffectCode && one.object &&
           std::find(options_.acted_on.begin(), options_.acted_on.end(), one.object->kind) !=
               options_.acted_on.end();
  });
  return all;
}

}  // namespace fairlead::source
