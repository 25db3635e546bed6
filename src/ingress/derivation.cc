#include "ingress/derivation.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sorted_map.h"
#include "config/kubernetes_types.h"
#include "ingress/ingress_rule.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::ingress {
namespace {

using config::ConfigPtr;
using config::Kind;
using config::ObjectChange;
using Name = std::pair<Interned, Interned>;  // namespace, name

// What is known of one Ingress.
struct Known {
  ConfigPtr object;  // null where it is not Istio's
  std::vector<std::string> hosts;
  ConfigPtr gateway;
  std::vector<config::Diagnostic> problems;
};
using KnownPtr = std::shared_ptr<const Known>;

// What is made for one host.
struct Host {
  std::vector<Name> ingresses;  // sorted
  ConfigPtr virtual_service;
};

class Derivation final : public state::Derivation {
 public:
  std::unique_ptr<state::Derivation> Clone() const override { return std::make_unique<Derivation>(*this); }

  explicit Derivation(std::string_view gateway_namespace) { place_.gateway_namespace = gateway_namespace; }

  Outcome Apply(const config::ObjectStore& objects, std::span<const ObjectChange> changes,
                const model::SettingsPtr& settings) override {
    TakeSettings(settings);
    std::set<Name> ingresses;
    for (const ObjectChange& change : changes) Note(change.key, objects, &ingresses);
    if (std::exchange(all_changed_, false)) {
      for (const auto& [name, object] : objects.All(Kind::kIngress)) ingresses.insert(name);
      for (const auto& [name, known] : known_) ingresses.insert(name);
    }
    Outcome outcome;
    outcome.diagnostics = !ingresses.empty();
    std::set<std::string> hosts;
    for (const Name& name : ingresses) Update(name, objects, &hosts, &outcome.objects);
    for (const std::string& host : hosts) UpdateHost(host, objects, &outcome.objects);
    return outcome;
  }

  std::vector<config::Diagnostic> Diagnostics() const override {
    std::vector<config::Diagnostic> all;
    for (const auto& [name, known] : known_)
      all.insert(all.end(), known->problems.begin(), known->problems.end());
    return all;
  }

 private:
  void TakeSettings(const model::SettingsPtr& settings) {
    const auto parts = [](const istio::mesh::v1alpha1::MeshConfig& mesh) {
      return std::tie(mesh.ingress_class(), mesh.ingress_selector(), mesh.ingress_service());
    };
    const bool same = mesh_ != nullptr && place_.domain == settings->domain &&
                      parts(*mesh_) == parts(*settings->mesh) &&
                      mesh_->ingress_controller_mode() == settings->mesh->ingress_controller_mode();
    mesh_ = settings->mesh;
    place_.domain = settings->domain;
    all_changed_ |= !same;
  }

  // Which Ingresses a change may concern.
  void Note(const config::ObjectKey& key, const config::ObjectStore& objects, std::set<Name>* out) const {
    if (key.kind == Kind::kIngress) {
      out->insert({key.ns, key.name});
    } else if (key.kind == Kind::kIngressClass) {
      for (const auto& [name, object] : objects.All(Kind::kIngress)) {
        if (ClassName(*object) == key.name) out->insert(name);
      }
    } else if (key.kind == Kind::kService) {
      for (auto it = known_.LowerBound({key.ns, {}}); it != known_.end() && it->first.first == key.ns; ++it) {
        const std::vector<std::string> named = NamedPortServices(*it->second->object);
        if (std::find(named.begin(), named.end(), key.name.str()) != named.end()) out->insert(it->first);
      }
    }
  }

  static std::string_view ClassName(const config::ConfigObject& ingress) {
    return ingress.Spec<config::Tree>().Find("spec").Find("ingressClassName").String();
  }

  void Update(const Name& name, const config::ObjectStore& objects, std::set<std::string>* hosts,
              std::vector<ObjectChange>* out) {
    const KnownPtr* found = known_.Find(name);
    const KnownPtr before = found == nullptr ? nullptr : *found;
    const KnownPtr now = Look(objects.Find(Kind::kIngress, name.first, name.second), objects);
    if (before != nullptr) Leave(name, *before, hosts);
    if (now != nullptr) Join(name, *now, hosts);
    Emit(before == nullptr ? nullptr : before->gateway, now == nullptr ? nullptr : now->gateway, out);
    if (now == nullptr) {
      known_.Erase(name);
    } else {
      known_.Set(name, now);
    }
  }

  // Null where it is gone or not Istio's.
  KnownPtr Look(const ConfigPtr& object, const config::ObjectStore& objects) const {
    if (object == nullptr || mesh_ == nullptr) return nullptr;
    const std::string_view name = ClassName(*object);
    const ConfigPtr of_class =
        name.empty() ? nullptr : objects.Find(Kind::kIngressClass, Interned(), Interned(name));
    if (!IsSupported(*mesh_, *object, of_class.get())) return nullptr;
    auto known = std::make_shared<Known>();
    known->object = object;
    known->hosts = HostsOf(*object);
    known->gateway = MakeGateway(*mesh_, place_, *object);
    known->problems = FindProblems(object, PortFinder(objects));
    return known;
  }

  static FindPort PortFinder(const config::ObjectStore& objects) {
    return [&objects](std::string_view ns, std::string_view service,
                      std::string_view port) -> std::optional<uint32_t> {
      const ConfigPtr found = objects.Find(Kind::kService, Interned(ns), Interned(service));
      if (found == nullptr) return std::nullopt;
      for (const config::ServicePortSpec& candidate : found->Spec<config::ServiceSpec>().ports) {
        if (candidate.name == port) return static_cast<uint32_t>(candidate.port);
      }
      return std::nullopt;
    };
  }

  void Leave(const Name& name, const Known& known, std::set<std::string>* changed) {
    for (const std::string& host : known.hosts) {
      Host now = *hosts_.Find(host);
      std::erase(now.ingresses, name);
      hosts_.Set(host, std::move(now));
      changed->insert(host);
    }
  }
  void Join(const Name& name, const Known& known, std::set<std::string>* changed) {
    for (const std::string& host : known.hosts) {
      const Host* before = hosts_.Find(host);
      Host now = before == nullptr ? Host() : *before;
      now.ingresses.insert(std::lower_bound(now.ingresses.begin(), now.ingresses.end(), name), name);
      hosts_.Set(host, std::move(now));
      changed->insert(host);
    }
  }

  void UpdateHost(const std::string& host, const config::ObjectStore& objects,
                  std::vector<ObjectChange>* out) {
    Host now = *hosts_.Find(host);
    const ConfigPtr before = now.virtual_service;
    std::vector<ConfigPtr> ingresses;
    ingresses.reserve(now.ingresses.size());
    for (const Name& name : now.ingresses) ingresses.push_back((*known_.Find(name))->object);
    now.virtual_service =
        ingresses.empty() ? nullptr : MakeVirtualService(place_, host, ingresses, PortFinder(objects));
    if (before != nullptr && now.virtual_service != nullptr &&
        before->content_hash() == now.virtual_service->content_hash()) {
      now.virtual_service = before;
    }
    Emit(before, now.virtual_service, out);
    if (ingresses.empty()) {
      hosts_.Erase(host);
    } else {
      hosts_.Set(host, std::move(now));
    }
  }

  static void Emit(const ConfigPtr& before, const ConfigPtr& now, std::vector<ObjectChange>* out) {
    if (before == now) return;
    if (before != nullptr && (now == nullptr || !(config::KeyOf(*before) == config::KeyOf(*now))))
      out->push_back({config::KeyOf(*before), nullptr});
    if (now != nullptr) out->push_back({config::KeyOf(*now), now});
  }

  model::MeshConfigPtr mesh_;  // null before the first settings
  RulePlace place_;
  bool all_changed_ = false;
  SortedMap<Name, KnownPtr> known_;  // Istio's Ingresses
  SortedMap<std::string, Host> hosts_;
};

}  // namespace

std::unique_ptr<state::Derivation> NewIngressDerivation(std::string_view gateway_namespace) {
  return std::make_unique<Derivation>(gateway_namespace);
}

}  // namespace fairlead::ingress
