#include "app/webhooks.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "app/cluster_access.h"
#include "base/log.h"
#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "injection/template_program.h"

namespace fairlead::app {
namespace {

LogScope webhook_log("webhook");

// Source: istiod's defaultInjectorConfigMapName, pilot/pkg/bootstrap/sidecarinjector.go.
std::string ConfigMapName(const std::string& revision) {
  return revision.empty() || revision == "default" ? "istio-sidecar-injector"
                                                   : StrCat("istio-sidecar-injector-", revision);
}

bool Surrounds(config::Kind kind) {
  return kind == config::Kind::kProxyConfig || kind == config::Kind::kNode ||
         kind == config::Kind::kNamespace;
}

injection::ClusterFacts FactsOf(const config::ObjectStore& objects, const Interned& cluster) {
  injection::ClusterFacts facts;
  for (const auto& [name, object] : objects.All(config::Kind::kNode, cluster))
    facts.nodes.push_back({object->name().str(), object->Spec<config::NodeSpec>().kubelet_version});
  for (const auto& [name, object] : objects.All(config::Kind::kNamespace, cluster))
    facts.namespace_annotations[object->name().str()] = object->meta().annotations;
  return facts;
}

}  // namespace

Webhooks::Webhooks(const DiscoveryOptions& options, std::function<void()> loaded) : options_(options) {
  webhook::ShowMetrics();
  if (options_.https_addr.empty()) return;
  injection::TemplateProgramOptions program;
  program.path = injection::TemplateProgram::FindBeside();
  const bool has_program = !program.path.empty();
  webhook::InjectorOptions injector;
  injector.folder = options_.injection_directory;
  injector.loaded = std::move(loaded);
  injector_ = std::make_unique<webhook::Injector>(
      std::move(injector), std::make_unique<injection::TemplateProgram>(std::move(program)));
  injector_->Start();
  wanted_ = ReadsCluster(options_) || injector_->HasFiles();
  if (has_program) return;
  if (wanted_)
    webhook_log.Warn("no injection of sidecars: there is no program fairlead-templates beside fairlead");
  injector_ = nullptr;
}

Webhooks::~Webhooks() { Stop(); }

void Webhooks::OnPublished(const push::Publication& now) {
  if (!wanted_ || injector_ == nullptr) return;
  injector_->SetMesh(now.snapshot->settings->mesh);
  TakeTexts(now.mesh.written());
  TakeSurroundings(now);
}

// A ConfigMap that goes, or lacks a key, leaves what it said.
void Webhooks::TakeTexts(const config::ObjectStore& objects) {
  const std::string name = ConfigMapName(options_.environment.revision);
  const config::ConfigPtr found = objects.Find(config::Kind::kConfigMap, options_.ns, name);
  if (found == nullptr || found == config_map_) return;
  config_map_ = found;
  const auto& data = found->Spec<config::ConfigMapSpec>().data;
  const auto config = data.find("config"), values = data.find("values");
  const std::string where = StrCat("ConfigMap ", options_.ns, "/", name);
  if (config == data.end() || values == data.end()) {
    webhook_log.Warn("{} lacks the key {}", where, config == data.end() ? "config" : "values");
    return;
  }
  injector_->SetTexts(where, {config->second, values->second});
}

void Webhooks::TakeSurroundings(const push::Publication& now) {
  const bool changed =
      std::any_of(now.changes.begin(), now.changes.end(),
                  [](const config::ObjectChange& change) { return Surrounds(change.key.kind); });
  if (surrounded_ && !changed) return;
  surrounded_ = true;
  const config::ObjectStore& objects = now.mesh.written();
  auto made = std::make_shared<injection::PodSurroundings>();
  made->revision = options_.environment.revision;
  made->compliance_policy = options_.environment.compliance_policy;
  made->native = options_.environment.native_sidecars;
  made->openshift = options_.environment.platform == "openshift";
  std::vector<config::ConfigPtr> proxy_configs;
  for (const auto& [name, object] : objects.All(config::Kind::kProxyConfig)) proxy_configs.push_back(object);
  made->proxy_configs = injection::SortedProxyConfigs(std::move(proxy_configs));
  made->clusters[options_.cluster_id] = FactsOf(objects, {});
  for (const Interned& cluster : objects.OtherClusters())
    made->clusters[cluster.str()] = FactsOf(objects, cluster);
  injector_->SetSurroundings(std::move(made));
}

std::string Webhooks::Awaited() const {
  return wanted_ && injector_ != nullptr ? injector_->Awaited() : "";
}

void Webhooks::Open(std::shared_ptr<http2::TlsCredentials> credentials) {
  if (!wanted_ || server_ != nullptr) return;
  auto server = std::make_unique<webhook::AdmissionServer>(std::move(credentials), injector_.get());
  if (const absl::Status status = server->Start(options_.https_addr); !status.ok()) {
    webhook_log.Error("no webhooks: {}", FromAbsl(status.message()));
    return;
  }
  server_ = std::move(server);
  webhook_log.Info("webhooks on {}", options_.https_addr);
}

void Webhooks::Linger(Clock::time_point until) const {
  if (server_ != nullptr && ReadsCluster(options_)) std::this_thread::sleep_until(until);
}

void Webhooks::Stop() {
  if (server_ != nullptr) server_->Stop();
  if (injector_ != nullptr) injector_->Stop();
}

}  // namespace fairlead::app
