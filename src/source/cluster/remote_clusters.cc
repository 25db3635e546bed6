#include "source/cluster/remote_clusters.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "base/thread.h"
#include "config/read/stored_object.h"

namespace fairlead::source {
namespace {

using config::ObjectKey;
using config::Severity;
using Trouble = kube::ListWatch::Trouble;

LogScope clusters_log("kube");

// As ClusterSource has it.
constexpr size_t kFewestRefusals = 3;

constexpr const char* kStatuses[] = {"synced", "syncing", "timeout", "closed"};

const config::KindInfo& SecretKind() { return config::InfoOf(config::Kind::kSecret); }

void CountSecretEvent(const char* event) {
  metrics::GetCounter("remote_cluster_secret_events_total", "Events of Secrets with kubeconfigs.",
                      {{"event", event}})
      .Add();
}

void CountTimeout(const std::string& cluster) {
  metrics::GetCounter("remote_cluster_sync_timeouts_total",
                      "Clusters that were not read in time, at the start or with other credentials.",
                      {{"cluster", cluster}})
      .Add();
}

// "" for a cluster that is gone.
void ShowStatus(const std::string& cluster, std::string_view status) {
  for (const char* one : kStatuses) {
    metrics::GetGauge("istiod_remote_cluster_sync_status", "1 for the state that a remote cluster is in.",
                      {{"cluster", cluster}, {"cluster_type", "remote"}, {"status", one}})
        .Set(status == one ? 1 : 0);
  }
}

std::string SecretName(const ObjectKey& secret) { return StrCat(secret.ns.str(), "/", secret.name.str()); }

}  // namespace

struct RemoteClusters::Remote {
  ObjectKey secret;
  std::unique_ptr<RemoteFeed> serving;  // open; null before there is any
  std::unique_ptr<RemoteFeed> next;     // takes its place when it has synced; may be null
  bool timed_out = false;               // the newest, before it has synced
  std::string shown_status = {};

  const RemoteFeed* Newest() const { return next != nullptr ? next.get() : serving.get(); }
  std::string Status() const {
    if (Newest()->synced()) return "synced";
    return timed_out ? "timeout" : "syncing";
  }
};

RemoteClusters::RemoteClusters(Options options, fetch::Client* client)
    : options_(std::move(options)),
      client_(client),
      loop_(options_.loop, options_.access, client),
      secret_copy_(SecretKind(), Interned(), false),
      target_{&mutex_, nullptr, [this] {
                news_ = true;
                loop_.Wake();
              }} {
  secret_copy_.SetApiVersion("v1");
}

RemoteClusters::~RemoteClusters() { Stop(); }

absl::Status RemoteClusters::Start(Sink* sink) {
  sink_ = target_.sink = sink;
  metrics::GetGauge("istiod_managed_clusters", "Clusters that are read.", {{"cluster_type", "local"}}).Set(1);
  Count();
  auto thread = StartThread([this] {
    pthread_setname_np(pthread_self(), "clusters");
    Run();
  });
  if (thread.ok()) thread_ = std::move(*thread);
  return thread.status();
}

void RemoteClusters::Stop() {
  loop_.Stop();
  if (thread_.joinable()) thread_.join();
  std::map<std::string, std::unique_ptr<Remote>, std::less<>> remotes;
  {
    std::lock_guard lock(mutex_);
    remotes.swap(remotes_);
  }
  remotes.clear();  // each waits for its thread
  retired_.clear();
}

void RemoteClusters::Run() {
  watch_ = loop_.Add(StrCat("/api/v1/namespaces/", options_.ns, "/secrets"),
                     &config::StoredFieldsOf(SecretKind()), &secret_copy_, kRemoteSecretSelector);
  do {
    TakeSecrets();
    if (SecretsKnown() && std::exchange(secrets_changed_, false)) Reconcile();
    Advance();
    NoteTrouble();
    Tell();
    retired_.clear();
  } while (loop_.Run(NextDeadline()));
}

void RemoteClusters::TakeSecrets() {
  for (config::ObjectChange& change : secret_copy_.TakeChanges()) {
    secrets_changed_ = true;
    if (change.object == nullptr) {
      CountSecretEvent("delete");
      secrets_.erase(change.key);
    } else {
      const bool added = secrets_.insert_or_assign(change.key, std::move(change.object)).second;
      CountSecretEvent(added ? "add" : "update");
    }
  }
}

// A server that has no Secrets has none for us.
bool RemoteClusters::SecretsKnown() const {
  const kube::ListWatch* watch = loop_.Find(watch_);
  return watch->synced() || watch->trouble() == Trouble::kNotServed;
}

void RemoteClusters::Reconcile() {
  std::map<std::string, ObjectKey, std::less<>> holders;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [cluster, remote] : remotes_) holders.emplace(cluster, remote->secret);
  }
  std::vector<config::Diagnostic> problems;
  const NamedKubeconfigs chosen = ChooseKubeconfigs(secrets_, holders, options_.rules, &problems);
  Drop(chosen);
  for (const auto& [cluster, kubeconfig] : chosen) Follow(cluster, kubeconfig, &problems);
  problems_ = std::move(problems);
  news_ = true;
  {
    std::lock_guard lock(mutex_);
    secrets_known_ = true;
  }
  Count();
}

// Whose key is gone.
void RemoteClusters::Drop(const NamedKubeconfigs& chosen) {
  std::lock_guard lock(mutex_);
  for (auto it = remotes_.begin(); it != remotes_.end();) {
    if (chosen.contains(it->first)) {
      ++it;
      continue;
    }
    Remote& remote = *it->second;
    clusters_log.Info("cluster {} is gone, as {} has it no longer", it->first, Describe(remote.secret));
    ShowStatus(it->first, "");
    for (std::unique_ptr<RemoteFeed>* feed : {&remote.next, &remote.serving}) {
      if (*feed == nullptr) continue;
      (*feed)->Withdraw();
      retired_.push_back(std::move(*feed));
    }
    it = remotes_.erase(it);
  }
}

// Begins to read the cluster where the kubeconfig is another one.
void RemoteClusters::Follow(const std::string& cluster, const NamedKubeconfig& chosen,
                            std::vector<config::Diagnostic>* problems) {
  Remote* remote = nullptr;
  {
    std::lock_guard lock(mutex_);
    const auto found = remotes_.find(cluster);
    if (found != remotes_.end()) {
      remote = found->second.get();
      remote->secret = chosen.secret;
      if (remote->Newest()->kubeconfig() == chosen.text) return;
      if (remote->serving != nullptr && remote->serving->kubeconfig() == chosen.text) {
        retired_.push_back(std::move(remote->next));  // back to the one before
        remote->timed_out = false;
        return;
      }
    }
  }
  absl::StatusOr<kube::ServerAccess> access =
      kube::ParseUntrustedKubeconfig(chosen.text, "kubeconfig", options_.accepted);
  if (!access.ok()) {
    problems->push_back(KubeconfigProblem(
        chosen.secret, cluster, Severity::kError,
        StrCat(FromAbsl(access.status().message()),
               remote == nullptr ? "" : "; the earlier kubeconfig of the cluster stays in effect")));
    return;
  }
  Begin(cluster, remote, chosen, *std::move(access), problems);
}

// `remote`: null where there is none yet.
void RemoteClusters::Begin(const std::string& cluster, Remote* remote, const NamedKubeconfig& chosen,
                           kube::ServerAccess access, std::vector<config::Diagnostic>* problems) {
  clusters_log.Info("cluster {} of {} is read from {}{}", cluster, Describe(chosen.secret), access.server,
                    remote == nullptr ? "" : ", with another kubeconfig");
  ClusterSource::Options options = options_.clusters;
  options.loop.compressed = true;  // other clusters may be far away
  options.access = std::move(access);
  options.cluster = Interned(cluster);
  auto feed = std::make_unique<RemoteFeed>(&target_, cluster, chosen.text);
  const absl::Status started = feed->Start(std::make_unique<ClusterSource>(std::move(options), client_));
  if (!started.ok()) {
    problems->push_back(KubeconfigProblem(chosen.secret, cluster, Severity::kError,
                                          std::string(FromAbsl(started.message()))));
    return;
  }
  std::lock_guard lock(mutex_);
  if (remote == nullptr) {
    remote = (remotes_[cluster] = std::make_unique<Remote>()).get();
    remote->secret = chosen.secret;
  }
  if (remote->next != nullptr) retired_.push_back(std::move(remote->next));
  remote->next = std::move(feed);
  remote->timed_out = false;
}

void RemoteClusters::Advance() {
  const Clock::time_point now = Clock::now();
  std::lock_guard lock(mutex_);
  bool settled = secrets_known_;
  for (auto& [cluster, remote] : remotes_) {
    AdvanceOne(cluster, remote.get(), now);
    const std::string status = remote->Status();
    if (status == "syncing") settled = false;
    if (status == remote->shown_status) continue;
    ShowStatus(cluster, status);
    remote->shown_status = status;
    news_ = true;
  }
  if (synced_ || !settled) return;
  synced_ = true;
  sink_->OnSynced();
}

// REQUIRES: mutex_ held.
void RemoteClusters::AdvanceOne(const std::string& cluster, Remote* remote, Clock::time_point now) {
  const auto take = [&] {
    remote->next->Open(remote->serving.get());
    if (remote->serving != nullptr) retired_.push_back(std::move(remote->serving));
    remote->serving = std::move(remote->next);
  };
  if (remote->Newest()->synced()) {
    const std::chrono::duration<double, std::milli> took = now - remote->Newest()->begun();
    if (remote->shown_status != "synced")
      clusters_log.Info("cluster {} has synced after {:.0f}ms", cluster, took.count());
    remote->timed_out = false;
    if (remote->next != nullptr) take();
    return;
  }
  const bool late = options_.timeout.count() > 0 && now - remote->Newest()->begun() >= options_.timeout;
  if (!late || remote->timed_out) return;
  remote->timed_out = true;
  CountTimeout(cluster);
  clusters_log.Error("cluster {} was not read within {}ms: {}", cluster, options_.timeout.count(),
                     Join(remote->Newest()->Awaited(), ", "));
  // What it shows until then counts; earlier credentials go on to serve.
  if (remote->serving == nullptr) take();
}

void RemoteClusters::NoteTrouble() {
  const kube::ListWatch* watch = loop_.Find(watch_);
  const bool said = watch->trouble() == Trouble::kForbidden || watch->failures() >= kFewestRefusals;
  std::string trouble =
      !said || watch->trouble() == Trouble::kNone || watch->trouble() == Trouble::kNotServed
          ? ""
          : StrCat("Secrets with kubeconfigs of namespace ", options_.ns, " cannot be read from ",
                   options_.access.server, ": ", watch->trouble_text());
  std::lock_guard lock(mutex_);
  if (trouble.empty() == trouble_.empty()) return;
  if (!trouble.empty()) clusters_log.Warn("{}", trouble);
  trouble_ = std::move(trouble);
  news_ = true;
}

void RemoteClusters::Tell() {
  if (!news_.exchange(false)) return;
  std::vector<config::Diagnostic> all = problems_;
  secret_copy_.AddDiagnostics(&all);
  std::lock_guard lock(mutex_);
  if (!trouble_.empty()) {
    config::Diagnostic diagnostic;
    diagnostic.code =
        loop_.Find(watch_)->trouble() == Trouble::kForbidden ? "forbidden-kind" : "unreachable-cluster";
    diagnostic.message = trouble_;
    all.push_back(std::move(diagnostic));
  }
  for (const auto& [cluster, remote] : remotes_) {
    for (const RemoteFeed* feed : {remote->serving.get(), remote->next.get()}) {
      if (feed != nullptr) all.insert(all.end(), feed->diagnostics().begin(), feed->diagnostics().end());
    }
    if (!remote->timed_out) continue;
    const std::string lacking = remote->next == nullptr ? "the mesh goes on without what is lacking"
                                                        : "the earlier kubeconfig stays in effect";
    all.push_back(KubeconfigProblem(
        remote->secret, cluster, Severity::kError,
        StrCat("the cluster was not read within ", options_.timeout.count(), "ms; ", lacking)));
  }
  sink_->OnDiagnostics(std::move(all));
}

void RemoteClusters::Count() const {
  std::lock_guard lock(mutex_);
  metrics::GetGauge("istiod_managed_clusters", "Clusters that are read.", {{"cluster_type", "remote"}})
      .Set(static_cast<double>(remotes_.size()));
}

RemoteClusters::Clock::time_point RemoteClusters::NextDeadline() const {
  auto next = Clock::time_point::max();
  if (options_.timeout.count() == 0) return next;
  std::lock_guard lock(mutex_);
  for (const auto& [cluster, remote] : remotes_) {
    if (!remote->Newest()->synced() && !remote->timed_out)
      next = std::min(next, remote->Newest()->begun() + options_.timeout);
  }
  return next;
}

std::string RemoteClusters::Amount() const {
  std::lock_guard lock(mutex_);
  if (remotes_.empty()) return "";
  return StrCat(remotes_.size(), remotes_.size() == 1 ? " other cluster" : " other clusters");
}

std::vector<std::string> RemoteClusters::Awaited() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> awaited;
  if (synced_) return awaited;
  if (!secrets_known_)
    awaited.push_back(trouble_.empty() ? StrCat("Secrets with kubeconfigs of namespace ", options_.ns)
                                       : trouble_);
  for (const auto& [cluster, remote] : remotes_) {
    if (remote->Status() != "syncing") continue;
    const std::vector<std::string> lacking = remote->Newest()->Awaited();
    awaited.push_back(StrCat("cluster ", cluster, lacking.empty() ? "" : ": ", Join(lacking, ", ")));
  }
  return awaited;
}

std::optional<RemoteClusters::Access> RemoteClusters::FindAccess(const std::string& cluster) const {
  std::string text;
  {
    std::lock_guard lock(mutex_);
    const auto found = remotes_.find(cluster);
    if (found == remotes_.end() || found->second->serving == nullptr) return std::nullopt;
    text = found->second->serving->kubeconfig();
  }
  auto access = kube::ParseUntrustedKubeconfig(text, "kubeconfig", options_.accepted);
  if (!access.ok()) return std::nullopt;
  return Access{*std::move(access), std::move(text)};
}

std::vector<RemoteClusters::State> RemoteClusters::States() const {
  std::lock_guard lock(mutex_);
  std::vector<State> states;
  for (const auto& [cluster, remote] : remotes_)
    states.push_back({cluster, SecretName(remote->secret), remote->Status()});
  return states;
}

}  // namespace fairlead::source
