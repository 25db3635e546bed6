#include "app/controlled_clusters.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

LogScope clusters_log("kube");

constexpr char kAnnotation[] = "topology.istio.io/controlPlaneClusters";

bool Names(const config::ConfigObject& ns, const std::string& cluster) {
  const auto annotation = ns.meta().annotations.find(kAnnotation);
  if (annotation == ns.meta().annotations.end()) return false;
  const auto names = Split(annotation->second, ',');
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return name == "*" || name == cluster; });
}

}  // namespace

ControlledClusters::ControlledClusters(const DiscoveryOptions& options, fetch::Client* client,
                                       Sources sources)
    : options_(options), client_(client), sources_(std::move(sources)) {
  looking_.Start({.name = "controlled",
                  .quiet = std::chrono::milliseconds(100),
                  .at_most = std::chrono::seconds(1),
                  .job = [this] { Look(); }});
}

ControlledClusters::~ControlledClusters() { Stop(); }

void ControlledClusters::OnPublished() { looking_.Touch(); }

void ControlledClusters::SetRoots(const std::string& roots) {
  {
    std::lock_guard lock(mutex_);
    roots_ = roots;
  }
  looking_.Touch();
}

void ControlledClusters::SetWebhookRoots(const std::string& roots) {
  {
    std::lock_guard lock(mutex_);
    webhook_roots_ = roots;
  }
  looking_.Touch();
}

void ControlledClusters::Stop() {
  looking_.Stop();
  clusters_.clear();
}

std::set<std::string> ControlledClusters::Wanted(const config::ObjectStore& objects) const {
  std::set<std::string> wanted;
  for (const Interned& cluster : objects.OtherClusters()) {
    const config::ConfigPtr ns =
        objects.Find(config::Kind::kNamespace, Interned(), Interned(options_.ns), cluster);
    if (ns != nullptr && Names(*ns, options_.cluster_id)) wanted.insert(cluster.str());
  }
  return wanted;
}

void ControlledClusters::Look() {
  const std::set<std::string> wanted = Wanted(sources_.objects());
  std::erase_if(clusters_, [&](const auto& entry) {
    if (wanted.contains(entry.first)) return false;
    clusters_log.Info("cluster {} is controlled by others now", entry.first);
    return true;
  });
  std::string roots, webhook_roots;
  {
    std::lock_guard lock(mutex_);
    roots = roots_;
    webhook_roots = webhook_roots_;
  }
  for (const std::string& cluster : wanted) {
    auto found = sources_.find(cluster);
    if (!found) continue;
    Controlled& controlled = clusters_[cluster];
    if (controlled.writes == nullptr || controlled.kubeconfig != found->kubeconfig) {
      clusters_log.Info("cluster {} is controlled from here: its namespace {} says so", cluster, options_.ns);
      controlled.writes = nullptr;  // which gives up its lock
      controlled.kubeconfig = std::move(found->kubeconfig);
      controlled.writes = std::make_unique<ControlledCluster>(options_, cluster, std::move(found->access),
                                                              client_, sources_.mesh);
    }
    if (!roots.empty()) controlled.writes->SetRoots(roots);
    if (!webhook_roots.empty()) controlled.writes->SetWebhookRoots(webhook_roots);
    controlled.writes->OnPublished();
  }
}

}  // namespace fairlead::app
