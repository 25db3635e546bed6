#ifndef FAIRLEAD_SOURCE_CLUSTER_REMOTE_CLUSTERS_H_
#define FAIRLEAD_SOURCE_CLUSTER_REMOTE_CLUSTERS_H_

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fetch/client.h"
#include "kube/access.h"
#include "kube/watch_loop.h"
#include "source/cluster/cluster_source.h"
#include "source/cluster/kind_copy.h"
#include "source/cluster/kubeconfig_secrets.h"
#include "source/cluster/remote_feed.h"
#include "source/source.h"

namespace fairlead::source {

// The objects of other clusters: those whose kubeconfigs are in Secrets with the label istio/multiCluster of
// one namespace. A cluster comes and goes with its key. Another kubeconfig takes the place of an earlier one
// when all that it shows was read. A cluster that does not answer keeps what it said last. It has synced when
// the Secrets were listed and each cluster of then has synced or had its time.
// Source: Istio's multicluster.Controller.
class RemoteClusters : public Source {
 public:
  struct Options {
    kube::ServerAccess access;  // of the API server with the Secrets
    std::string ns;             // of the Secrets
    KubeconfigRules rules = {};
    std::set<std::string, std::less<>> accepted = {};  // see kube::ParseUntrustedKubeconfig
    // How long a cluster is waited for at the start; then the mesh goes on without what is lacking. 0: for
    // ever.
    std::chrono::milliseconds timeout{30'000};
    ClusterSource::Options clusters = {};  // of each, but for access and cluster
    kube::WatchLoop::Options loop = {};    // of the Secrets
  };
  // The client must outlive this.
  RemoteClusters(Options options, fetch::Client* client);
  ~RemoteClusters() override;

  absl::Status Start(Sink* sink) override;
  void Stop() override;
  std::string Name() const override { return "other clusters"; }
  std::string Amount() const override;
  std::vector<std::string> Awaited() const override;

  // A cluster as istiod's debugging shows it.
  struct State {
    std::string id, secret;  // "istio-system/remote-east"
    std::string status;      // "synced", "syncing", "timeout"
  };
  std::vector<State> States() const;  // by id; thread-safe

  // How a cluster is reached that is read now, and by which text; nothing for another one. Thread-safe.
  struct Access {
    kube::ServerAccess access;
    std::string kubeconfig;
  };
  std::optional<Access> FindAccess(const std::string& cluster) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Remote;

  void Run();
  void TakeSecrets();
  bool SecretsKnown() const;
  void Reconcile();
  void Drop(const NamedKubeconfigs& chosen);
  void Follow(const std::string& cluster, const NamedKubeconfig& chosen,
              std::vector<config::Diagnostic>* problems);
  void Begin(const std::string& cluster, Remote* remote, const NamedKubeconfig& chosen,
             kube::ServerAccess access, std::vector<config::Diagnostic>* problems);
  void Advance();
  void AdvanceOne(const std::string& cluster, Remote* remote, Clock::time_point now);
  void NoteTrouble();
  void Tell();
  void Count() const;
  Clock::time_point NextDeadline() const;

  const Options options_;
  fetch::Client* const client_;
  kube::WatchLoop loop_;
  Sink* sink_ = nullptr;
  std::thread thread_;

  // Of the own thread alone.
  KindCopy secret_copy_;
  kube::WatchLoop::Id watch_ = 0;
  std::map<config::ObjectKey, config::ConfigPtr> secrets_;
  bool secrets_changed_ = true;
  std::vector<config::Diagnostic> problems_;  // of kubeconfigs
  std::vector<std::unique_ptr<RemoteFeed>> retired_;
  std::atomic<bool> news_{true};

  mutable std::mutex mutex_;  // guards what follows, the feeds, and calls of the sink
  std::map<std::string, std::unique_ptr<Remote>, std::less<>> remotes_;
  std::string trouble_;  // of the Secrets
  bool secrets_known_ = false, synced_ = false;
  RemoteFeed::Target target_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CLUSTER_REMOTE_CLUSTERS_H_
