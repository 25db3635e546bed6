#ifndef FAIRLEAD_SOURCE_CLUSTER_CLUSTER_SOURCE_H_
#define FAIRLEAD_SOURCE_CLUSTER_CLUSTER_SOURCE_H_

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fetch/client.h"
#include "kube/access.h"
#include "kube/served_kinds.h"
#include "kube/watch_loop.h"
#include "source/cluster/kind_copy.h"
#include "source/source.h"

namespace fairlead::source {

// The objects of a Kubernetes API server, of all kinds that are read, kept up to date by watches. A kind that
// the server does not have is waited for, and let go of when its definition goes. It has synced when every
// kind that the server has was listed once. What the server once said stays in effect while it does not
// answer. Everything reaches the sink on the source's own thread.
class ClusterSource : public Source {
 public:
  struct Options {
    kube::ServerAccess access;
    Interned cluster = {};            // see config::ObjectMeta
    std::string only_namespace = {};  // of kinds with a namespace only its objects; "": all
    std::set<config::Kind> ignored = {};
    std::set<config::Kind> optional = {};     // a server that forbids these has synced without them
    std::vector<config::Kind> acted_on = {};  // as FileSource::Options has it
    bool deny_lost = false;                   // see KindCopy
    // Of Istio's kinds, objects with the label istio.io/rev of another revision are not there; "": all are.
    // Source: Istio's crdclient and LabelsInRevision.
    std::string revision = {};
    // Group and version of ServiceExports and ServiceImports at the server.
    std::string mcs_group = "multicluster.x-k8s.io", mcs_version = "v1alpha1";
    kube::WatchLoop::Options loop = {};
    // Whether CustomResourceDefinitions are watched; without, the kinds are those that are served at first.
    bool watch_definitions = true;
    // Where definitions may not be watched: how often to ask for what is served.
    std::chrono::milliseconds rediscover{30'000};
  };
  // The client must outlive this.
  ClusterSource(Options options, fetch::Client* client);
  ~ClusterSource() override;

  absl::Status Start(Sink* sink) override;
  void Stop() override;
  std::string Name() const override;
  std::string Amount() const override;
  std::vector<std::string> Awaited() const override;

 private:
  class Definitions;
  struct Reflector;
  using Time = kube::ListWatch::Time;

  void Run();
  bool MustAskAgain() const;
  bool Discover();
  absl::Status AskWhatIsServed();
  absl::Status AskGroups(config::Node groups);
  void Reconcile();
  void Follow(Reflector& reflector, const std::string& api_version);
  void LetGo(Reflector& reflector);
  void Flush();
  void Tell();
  bool HasSynced(std::vector<std::string>* awaited) const;
  void NoteTroubles();
  std::vector<config::Diagnostic> Diagnostics() const;
  void SetAwaited(std::vector<std::string> awaited);

  const Options options_;
  kube::WatchLoop loop_;
  Sink* sink_ = nullptr;
  std::thread thread_;
  const std::vector<config::KindInfo> all_kinds_;  // as the server has them
  // From here on of the source's thread alone.
  kube::ServedKinds served_{all_kinds_};
  std::unique_ptr<Definitions> definitions_;
  std::map<config::Kind, std::unique_ptr<Reflector>> reflectors_;
  std::string discovery_trouble_;
  Time discovered_{};
  std::map<config::Kind, std::string> troubles_;  // as last said
  std::string unreachable_;                       // likewise
  bool definitions_blind_ = false;                // likewise: definitions cannot be watched
  uint64_t told_revision_ = 0;
  bool synced_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::string> awaited_;
  size_t objects_ = 0, kinds_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CLUSTER_CLUSTER_SOURCE_H_
