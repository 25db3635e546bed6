#include "controllers/root_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "controllers/metrics.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/discovery_filter.h"

namespace fairlead::controllers {
namespace {

using config::ConfigPtr;
using config::Kind;
using kube::ApiRequest;
using Json = nlohmann::json;

LogScope root_log("roots");

constexpr char kKey[] = "root-cert.pem";
constexpr std::chrono::seconds kLimit{5};
// So long a ConfigMap that was written may be missing in what is read.
constexpr std::chrono::milliseconds kWatchLag{10'000};
// Kubernetes' own, in which nothing of the mesh runs. Source: Istio's IgnoredNamespaces without kube-system.
constexpr std::string_view kIgnored[] = {"kube-public", "kube-node-lease", "local-path-storage"};

bool IsIgnored(const Interned& ns) {
  return std::find(std::begin(kIgnored), std::end(kIgnored), std::string_view(ns)) != std::end(kIgnored);
}

const std::string& VersionOf(const ConfigPtr& object) {
  static const std::string none;
  return object == nullptr ? none : object->meta().resource_version;
}

bool Has(const ConfigPtr& config_map, const std::string& roots) {
  if (config_map == nullptr) return false;
  const auto& data = config_map->Spec<config::ConfigMapSpec>().data;
  const auto found = data.find(kKey);
  return found != data.end() && found->second == roots;
}

std::string PathIn(const Interned& ns) { return StrCat("/api/v1/namespaces/", ns.str(), "/configmaps"); }

}  // namespace

RootWriter::RootWriter(Options options, kube::ApiWriter* writer)
    : options_(std::move(options)), writer_(writer), soon_(writer, options_.quiet, [this] { Look(); }) {}

void RootWriter::SetRoots(std::string roots) {
  {
    std::lock_guard lock(mutex_);
    next_roots_ = std::move(roots);
  }
  soon_.Plan();
}

void RootWriter::OnLeading() {
  whole_ = true;
  soon_.Plan();
}

bool RootWriter::IsUnchanged(const View& now, const std::string& roots) const {
  return roots == roots_ && now.mesh == view_.mesh &&
         now.objects.Revision(Kind::kNamespace) == view_.objects.Revision(Kind::kNamespace) &&
         now.objects.Revision(Kind::kConfigMap) == view_.objects.Revision(Kind::kConfigMap);
}

void RootWriter::Look() {
  if (!options_.leads()) return;
  std::string roots;
  {
    std::lock_guard lock(mutex_);
    roots = next_roots_;
  }
  View now = options_.view();
  if (roots.empty() || now.mesh == nullptr) return;
  const bool unchanged = !whole_.exchange(false) && IsUnchanged(now, roots);
  roots_ = std::move(roots);
  view_ = std::move(now);
  if (unchanged) return;
  const model::DiscoveryFilter filter(*view_.mesh, view_.objects);
  for (const auto& [name, object] : view_.objects.All(Kind::kNamespace)) {
    const Interned& ns = name.second;
    const bool wanted = filter.Selects(ns) && !object->meta().deleting && !IsIgnored(ns) &&
                        (options_.only_namespace.empty() || std::string_view(ns) == options_.only_namespace);
    if (wanted && Has(ConfigMapOf(ns), roots_)) {
      sent_.erase(ns);
    } else if (wanted) {
      waiting_.insert(ns);
    }
  }
  Pump();
}

ConfigPtr RootWriter::ConfigMapOf(const Interned& ns) const {
  return view_.objects.Find(Kind::kConfigMap, ns, Interned(options_.config_map));
}

void RootWriter::Pump() {
  for (auto it = waiting_.begin(); it != waiting_.end() && running_.size() < options_.most_at_once;) {
    const Interned ns = *it;
    if (running_.contains(ns)) {
      ++it;
      continue;
    }
    it = waiting_.erase(it);
    Begin(ns);
  }
}

// Whether it has something to do.
bool RootWriter::Begin(const Interned& ns) {
  const ConfigPtr config_map = ConfigMapOf(ns);
  if (!options_.leads() || Has(config_map, roots_)) return false;
  const auto sent = sent_.find(ns);
  if (sent != sent_.end() && sent->second.failures == 0 && sent->second.roots == roots_ &&
      sent->second.before == VersionOf(config_map) && Clock::now() < sent->second.at + kWatchLag)
    return false;
  Send(ns, config_map == nullptr);
  return true;
}

void RootWriter::Send(const Interned& ns, bool create) {
  running_.insert(ns);
  Json object = {{"data", {{kKey, roots_}}}};
  ApiRequest request;
  if (create) {
    object["apiVersion"] = "v1";
    object["kind"] = "ConfigMap";
    object["metadata"] = {
        {"name", options_.config_map}, {"namespace", ns.str()}, {"labels", {{"istio.io/config", "true"}}}};
    request.verb = ApiRequest::Verb::kCreate;
    request.path = PathIn(ns);
  } else {
    request.verb = ApiRequest::Verb::kMergePatch;
    request.path = kube::ObjectPath(PathIn(ns), options_.config_map);
  }
  request.body = JsonText(object);
  request.limit = kLimit;
  request.valid = options_.leads;
  writer_->Send(std::move(request), [this, ns, before = VersionOf(ConfigMapOf(ns)), create, roots = roots_](
                                        const Answer& answer) { OnSent(ns, before, create, roots, answer); });
}

void RootWriter::OnSent(const Interned& ns, const std::string& before, bool create, const std::string& roots,
                        const Answer& answer) {
  if (answer.status.ok()) {
    ++written_;
    Metrics().roots.Add();
    sent_.insert_or_assign(ns, Sent{roots, before, Clock::now()});
    AskLater(ns, kWatchLag);
    return End(ns);
  }
  if (absl::IsCancelled(answer.status)) return End(ns);
  // Its watch is late: it is there, or it is not.
  if (create && absl::IsAlreadyExists(answer.status)) return Send(ns, /*create=*/false);
  if (!create && absl::IsNotFound(answer.status)) return Send(ns, /*create=*/true);
  // A namespace that goes takes nothing new.
  if (absl::IsNotFound(answer.status) || absl::IsPermissionDenied(answer.status) ||
      absl::IsInvalidArgument(answer.status)) {
    if (!absl::IsNotFound(answer.status)) {
      Metrics().root_errors.Add();
      root_log.Info("the root certificates are not written to namespace {}: {}", ns.str(),
                    FromAbsl(answer.status.message()));
    }
    sent_.insert_or_assign(ns, Sent{roots, before, Clock::time_point::max() - kWatchLag});
    return End(ns);
  }
  Metrics().root_errors.Add();
  Again(ns, answer);
}

void RootWriter::Again(const Interned& ns, const Answer& answer) {
  Sent& sent = sent_[ns];
  const auto pause = std::min(options_.first_retry * (1 << std::min(sent.failures, 10)), options_.most_retry);
  if (++sent.failures == 3)
    root_log.Warn("the root certificates of namespace {} wait: {}", ns.str(),
                  FromAbsl(answer.status.message()));
  AskLater(ns, std::chrono::duration_cast<std::chrono::milliseconds>(pause));
  End(ns);
}

void RootWriter::AskLater(const Interned& ns, std::chrono::milliseconds pause) {
  writer_->Run(
      [this, ns] {
        waiting_.insert(ns);
        Pump();
      },
      Clock::now() + pause);
}

void RootWriter::End(const Interned& ns) {
  running_.erase(ns);
  Pump();
}

}  // namespace fairlead::controllers
