#include "simulate/made_up.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/strings.h"

namespace fairlead::simulate {
namespace {

using config::Kind;
using config::ObjectKey;

constexpr char kSidecarLabel[] = "security.istio.io/tlsMode";

bool Says(const LabelMap& labels, std::string_view key, std::string_view value) {
  const auto found = labels.find(std::string(key));
  return found != labels.end() && std::string_view(found->second) == value;
}

class Maker {
 public:
  explicit Maker(const Objects& objects) : objects_(objects) {}

  void AddPod(const WorkloadTemplate& one) {
    if (one.replicas < 1 || HasPod(one)) return;
    const ObjectKey key{Kind::kPod, Interned(one.ns), NameFor(one)};
    config::PodSpec pod = one.pod;
    pod.pod_ip = Address(18, ++last_pod_);
    pod.pod_ips = {pod.pod_ip};
    pod.phase = "Running";
    pod.ready = true;
    made_.pods[key] = ToText(one);
    made_.addresses[pod.pod_ip] = ToText(one);
    config::ObjectMeta meta;
    meta.labels = one.labels;
    meta.annotations = one.annotations;
    if (HasSidecar(one)) meta.labels[kSidecarLabel] = "istio";
    Add(key, std::move(meta), {Interned(one.file), one.line, Interned("v1")},
        std::make_shared<const config::PodSpec>(std::move(pod)));
  }

  void AddService(const config::ConfigObject& service) {
    auto spec = service.Spec<config::ServiceSpec>();
    if (spec.cluster_ip.empty() && spec.type != "ExternalName") {
      spec.cluster_ip = Address(19, ++last_service_);
      spec.cluster_ips = {spec.cluster_ip};
      ++made_.services;
      Add(KeyOf(service), service.meta(), service.origin(),
          std::make_shared<const config::ServiceSpec>(spec));
    }
  }

  MadeUp Take() { return std::move(made_); }

 private:
  static std::string Address(int net, unsigned number) {
    return StrCat("198.", net, ".", number / 256, ".", number % 256);
  }

  template <typename Spec>
  void Add(const ObjectKey& key, config::ObjectMeta meta, config::Origin origin,
           std::shared_ptr<const Spec> spec) {
    meta.ns = key.ns;
    meta.name = key.name;
    auto object = std::make_shared<const config::ConfigObject>(key.kind, std::move(meta), std::move(origin),
                                                               std::move(spec), ++hash_);
    made_.objects.push_back({key, std::move(object)});
  }

  // A Pod that this template, or another one with its labels, gave.
  bool HasPod(const WorkloadTemplate& one) const {
    return std::any_of(objects_.begin(), objects_.end(), [&](const auto& pair) {
      return pair.first.kind == Kind::kPod && pair.first.ns.str() == one.ns && !one.labels.empty() &&
             SelectorMatches(one.labels, pair.second->meta().labels);
    });
  }

  Interned NameFor(const WorkloadTemplate& one) const {
    const std::string& name = one.pod_name.empty() ? one.name : one.pod_name;
    const ObjectKey plain{Kind::kPod, Interned(one.ns), Interned(name)};
    if (!objects_.contains(plain) && !made_.pods.contains(plain)) return plain.name;
    return Interned(StrCat(name, "-", AsciiLower(one.kind)));
  }

  // As the injector decides. Source: istio.io/latest/docs/setup/additional-setup/sidecar-injection
  bool HasSidecar(const WorkloadTemplate& one) const {
    constexpr std::string_view kInject = "sidecar.istio.io/inject";
    if (Says(one.labels, kInject, "false") || Says(one.annotations, kInject, "false") || one.pod.host_network)
      return false;
    if (Says(one.annotations, "inject.istio.io/templates", "gateway")) return false;  // a router
    if (Says(one.labels, kInject, "true")) return true;
    const auto found = objects_.find({Kind::kNamespace, Interned(""), Interned(one.ns)});
    if (found == objects_.end()) return false;
    const LabelMap& labels = found->second->meta().labels;
    return Says(labels, "istio-injection", "enabled") || labels.contains("istio.io/rev");
  }

  const Objects& objects_;
  MadeUp made_;
  unsigned last_pod_ = 0, last_service_ = 0;
  uint64_t hash_ = 0;  // each made-up object is another
};

}  // namespace

MadeUp MakeUp(const std::vector<WorkloadTemplate>& templates, const Objects& objects) {
  Maker maker(objects);
  for (const WorkloadTemplate& one : templates) maker.AddPod(one);
  for (const auto& [key, object] : objects) {
    if (key.kind == Kind::kService) maker.AddService(*object);
  }
  return maker.Take();
}

}  // namespace fairlead::simulate
