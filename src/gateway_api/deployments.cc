#include "gateway_api/deployments.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/ip_address.h"
#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "config/read/tree_object.h"
#include "gateway_api/conversion/gateway.h"
#include "gateway_api/conversion/gateway_address.h"
#include "gateway_api/deployment_objects.h"
#include "mesh/index/policy_selection.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::Kind;
using config::ObjectChange;
using config::ObjectKey;
using Name = std::pair<Interned, Interned>;  // namespace, name

class NoLookups : public DerivedLookups {
 public:
  ParentsPtr ParentsOf(const ObjectKey& /*key*/) const override { return nullptr; }
  std::vector<ObjectKey> SetsOf(const ObjectKey& /*gateway*/) const override { return {}; }
  std::vector<Interned> UsedNamespaces() const override { return {}; }
};

template <typename Visit>
void ForEachIn(const config::ObjectStore& objects, Kind kind, const Interned& ns, Visit&& visit) {
  const auto& all = objects.All(kind);
  for (auto at = all.LowerBound({ns, Interned()}); at != all.end() && at->first.first == ns; ++at)
    visit(at->first, at->second);
}

// A managed Gateway, and what belongs to it.
struct Known {
  Deployment deployment;
  LabelMap selector;                // of its Service as it is
  std::set<std::string> addresses;  // where proxies are, whether or not Pods have them
  std::set<Name> pods;              // of the Gateway
  std::set<Name> amended;           // those of them whose labels are added
  size_t made_pods = 0;
};

// Whether a Pod, as it is written, is the Gateway's.
bool IsOf(const ConfigObject& pod, const Known& known) {
  const Deployment& deployment = known.deployment;
  const std::string_view named = LabelOr(pod.meta().labels, mesh::kGatewayNameLabel);
  if (!named.empty()) return named == deployment.gateway->name().str();
  const auto& spec = pod.Spec<config::PodSpec>();
  return spec.service_account == deployment.account || known.addresses.contains(spec.pod_ip) ||
         (!known.selector.empty() && SelectorMatches(known.selector, pod.meta().labels));
}

class Deployments final : public state::Derivation {
 public:
  explicit Deployments(GatewayAddresses addresses)
      : addresses_(std::make_shared<const GatewayAddresses>(std::move(addresses))) {}

  std::unique_ptr<Derivation> Clone() const override { return std::make_unique<Deployments>(*this); }

  Outcome Apply(const config::ObjectStore& objects, std::span<const ObjectChange> changes,
                const model::SettingsPtr& settings) override {
    Work work{objects, settings->features, {}, {}, {}};
    const bool begins = !started_ && !changes.empty();
    started_ |= begins;
    for (const ObjectChange& change : changes) Note(change, &work);
    work.outcome.diagnostics = begins || !work.anew.empty();
    for (const Name& gateway : work.anew) Find(gateway, &work);
    for (const Name& gateway : work.remade) Make(gateway, &work);
    return std::move(work.outcome);
  }

  std::vector<config::Diagnostic> Diagnostics() const override {
    std::vector<config::Diagnostic> all;
    if (!started_) return all;
    for (const auto& [gateway, addresses] : *addresses_) {
      const size_t dot = gateway.rfind('.');
      const Name name{Interned(gateway.substr(dot + 1)), Interned(gateway.substr(0, dot))};
      if (known_.contains(name)) continue;
      config::Diagnostic& warning = all.emplace_back();
      warning.severity = config::Severity::kWarning;
      warning.code = "missing-gateway";
      warning.object = ObjectKey{Kind::kKubernetesGateway, name.first, name.second};
      warning.message = "--gatewayAddress names it, and there is no such Gateway that Istio would deploy";
    }
    return all;
  }

 private:
  using KnownPtr = std::shared_ptr<const Known>;
  // Of an Apply that runs.
  struct Work {
    const config::ObjectStore& objects;
    const model::Features& features;
    std::set<Name> anew;    // Gateways to look at with all that may belong to them
    std::set<Name> remade;  // those whose objects are to be made
    Outcome outcome;
  };

  void Note(const ObjectChange& change, Work* work) {
    const Name name{change.key.ns, change.key.name};
    switch (change.key.kind) {
      case Kind::kKubernetesGateway:
        work->anew.insert(name);
        break;
      case Kind::kGatewayClass:
        for (const auto& [gateway, object] : work->objects.All(Kind::kKubernetesGateway))
          work->anew.insert(gateway);
        break;
      case Kind::kListenerSet:
        NoteSet(name, change.object, work);
        break;
      case Kind::kService:
        ForEachKnown(name.first, [&](const Name& gateway, const Known& known) {
          if (name.second == known.deployment.name) work->anew.insert(gateway);
        });
        break;
      case Kind::kEndpointSlice:
        NoteSlice(name, change.object, work);
        break;
      case Kind::kPod:
        NotePod(name, change.object, work);
        break;
      default:
        break;
    }
  }

  template <typename Visit>
  void ForEachKnown(const Interned& ns, Visit&& visit) const {
    for (auto at = known_.LowerBound({ns, Interned()}); at != known_.end() && at->first.first == ns; ++at)
      visit(at->first, *at->second);
  }

  void NoteSet(const Name& set, const ConfigPtr& object, Work* work) {
    if (const Name* before = gateway_of_set_.Find(set)) work->anew.insert(*before);
    gateway_of_set_.Erase(set);
    if (object == nullptr) return;
    const ObjectKey gateway = GatewayOfSet(*object);
    gateway_of_set_[set] = {gateway.ns, gateway.name};
    work->anew.insert({gateway.ns, gateway.name});
  }

  // Slices matter to the Gateway whose Service they are of; whose they were, is found by the addresses.
  void NoteSlice(const Name& slice, const ConfigPtr& object, Work* work) {
    if (const Name* before = gateway_of_slice_.Find(slice)) work->anew.insert(*before);
    gateway_of_slice_.Erase(slice);
    if (object == nullptr) return;
    const std::string_view service = LabelOr(object->meta().labels, "kubernetes.io/service-name");
    ForEachKnown(slice.first, [&](const Name& gateway, const Known& known) {
      if (service == known.deployment.name) work->anew.insert(gateway);
    });
  }

  void NotePod(const Name& pod, const ConfigPtr& object, Work* work) {
    raw_.Erase(pod);  // it counts as it is written, until it is amended again
    std::vector<std::pair<Name, KnownPtr>> changed;
    ForEachKnown(pod.first, [&](const Name& gateway, const Known& known) {
      const bool was = known.pods.contains(pod), is = object != nullptr && IsOf(*object, known);
      if (!was && !is) return;
      auto now = std::make_shared<Known>(known);
      now->amended.erase(pod);
      if (is) now->pods.insert(pod);
      if (!is) now->pods.erase(pod);
      changed.emplace_back(gateway, std::move(now));
    });
    for (auto& [gateway, now] : changed) {
      known_.Set(gateway, std::move(now));
      work->remade.insert(gateway);
    }
  }

  // As it is written.
  ConfigPtr RawPod(const Name& pod, const Work& work) const {
    const ConfigPtr* raw = raw_.Find(pod);
    return raw != nullptr ? *raw : work.objects.Find(Kind::kPod, pod.first, pod.second);
  }

  // The Gateway, if it is one that is deployed, with its Pods.
  void Find(const Name& name, Work* work) {
    const KnownPtr* before = known_.Find(name);
    if (before != nullptr) Withdraw(**before, work);
    work->remade.insert(name);
    const ConfigPtr gateway = work->objects.Find(Kind::kKubernetesGateway, name.first, name.second);
    auto now = std::make_shared<Known>();
    if (gateway == nullptr || !IsManaged(*gateway) || !Describe(gateway, &now->deployment, work)) {
      known_.Erase(name);
      return;
    }
    if (const auto given = addresses_->find(StrCat(name.second.str(), ".", name.first.str()));
        given != addresses_->end())
      now->addresses.insert(given->second.begin(), given->second.end());
    AddSliceAddresses(name, now.get(), *work);
    const ConfigPtr service = work->objects.Find(Kind::kService, name.first, Interned(now->deployment.name));
    if (service != nullptr) now->selector = service->Spec<config::ServiceSpec>().selector;
    ForEachIn(work->objects, Kind::kPod, name.first, [&](const Name& pod, const ConfigPtr& /*object*/) {
      if (made_.contains(pod)) return;
      if (const ConfigPtr raw = RawPod(pod, *work); IsOf(*raw, *now)) now->pods.insert(pod);
    });
    known_.Set(name, std::move(now));
  }

  static bool Describe(const ConfigPtr& gateway, Deployment* deployment, Work* work) {
    const NoLookups none;
    Lookups lookups(work->objects, none, "", work->features);
    deployment->gateway = gateway;
    deployment->gateway_class =
        FindGatewayClass(config::SpecOf(*gateway).Find("gatewayClassName").text(), lookups);
    if (deployment->gateway_class.info == nullptr || deployment->gateway_class.info->remote) return false;
    deployment->name = GatewayServiceName(*gateway, deployment->gateway_class);
    deployment->account = GatewayServiceAccount(*gateway, deployment->gateway_class);
    for (const auto& [name, set] : work->objects.All(Kind::kListenerSet)) {
      if (GatewayOfSet(*set) == KeyOf(*gateway)) deployment->sets.push_back(set);
    }
    return true;
  }

  void AddSliceAddresses(const Name& gateway, Known* now, const Work& work) {
    ForEachIn(work.objects, Kind::kEndpointSlice, gateway.first,
              [&](const Name& name, const ConfigPtr& slice) {
                const auto& spec = slice->Spec<config::EndpointSliceSpec>();
                if (LabelOr(slice->meta().labels, "kubernetes.io/service-name") != now->deployment.name ||
                    name.second.str().find("~pods") != std::string::npos)  // those are made of Pods
                  return;
                gateway_of_slice_[name] = gateway;
                for (const config::SliceEndpoint& endpoint : spec.endpoints) {
                  if (endpoint.target || !endpoint.ready.value_or(true)) continue;
                  for (const Interned& address : endpoint.addresses) {
                    if (IsIpAddress(address.str())) now->addresses.insert(address.str());
                  }
                }
              });
  }

  // All that was made of a Gateway is no more; what is made of it now comes after.
  void Withdraw(const Known& known, Work* work) {
    const Interned& ns = known.deployment.gateway->ns();
    Outcome& out = work->outcome;
    out.objects.push_back({{Kind::kService, ns, Interned(known.deployment.name)}, nullptr});
    for (size_t i = 0; i < known.made_pods; ++i) WithdrawPod(known, i, work);
    for (const Name& pod : known.amended) {
      out.amended.push_back({{Kind::kPod, pod.first, pod.second}, nullptr});
      // Of one that two Gateways want, the other is looked at again.
      ForEachKnown(ns, [&](const Name& other, const Known& one) {
        if (&one != &known && one.pods.contains(pod)) work->remade.insert(other);
      });
    }
  }

  void WithdrawPod(const Known& known, size_t number, Work* work) {
    const Name pod{known.deployment.gateway->ns(), Interned(GatewayPodName(known.deployment.name, number))};
    made_.Erase(pod);
    work->outcome.objects.push_back({{Kind::kPod, pod.first, pod.second}, nullptr});
  }

  void Make(const Name& name, Work* work) {
    const KnownPtr* known = known_.Find(name);
    if (known == nullptr) return;
    auto now = std::make_shared<Known>(**known);
    std::set<std::string> without_pod = now->addresses, ready;
    for (const Name& pod : now->pods) {
      const ConfigPtr raw = RawPod(pod, *work);
      const auto& spec = raw->Spec<config::PodSpec>();
      without_pod.erase(spec.pod_ip);
      if (spec.ready && !spec.pod_ip.empty() && !raw->meta().deleting) ready.insert(spec.pod_ip);
      Amend(pod, raw, now.get(), work);
    }
    ready.insert(without_pod.begin(), without_pod.end());
    MakePods(without_pod, now.get(), work);
    const ConfigPtr service = MakeGatewayService(now->deployment, ready);
    work->outcome.objects.push_back({KeyOf(*service), service});
    known_.Set(name, std::move(now));
  }

  void Amend(const Name& pod, const ConfigPtr& raw, Known* now, Work* work) {
    if (raw->meta().labels.contains(mesh::kGatewayNameLabel)) return;
    const ConfigPtr amended = WithGatewayLabels(*raw, now->deployment);
    raw_[pod] = raw;
    now->amended.insert(pod);
    work->outcome.amended.push_back({KeyOf(*amended), amended});
  }

  void MakePods(const std::set<std::string>& addresses, Known* now, Work* work) {
    size_t made = 0;
    for (const std::string& address : addresses) {
      const ConfigPtr pod = MakeGatewayPod(now->deployment, now->selector, made++, address);
      made_[{pod->ns(), pod->name()}] = true;
      work->outcome.objects.push_back({KeyOf(*pod), pod});
    }
    for (size_t i = made; i < now->made_pods; ++i) WithdrawPod(*now, i, work);
    now->made_pods = made;
  }

  std::shared_ptr<const GatewayAddresses> addresses_;
  bool started_ = false;  // there are objects
  SortedMap<Name, KnownPtr> known_;
  ShardedMap<Name, Name> gateway_of_set_, gateway_of_slice_;
  ShardedMap<Name, ConfigPtr> raw_;  // Pods that are amended, as they are written
  ShardedMap<Name, bool> made_;      // Pods that are made here
};

}  // namespace

absl::StatusOr<GatewayAddresses> ParseGatewayAddresses(const std::vector<std::string>& texts) {
  GatewayAddresses all;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string gateway = text.substr(0, equals);
    const size_t dot = gateway.rfind('.');
    const bool named = dot != std::string::npos && dot > 0 && dot + 1 < gateway.size();
    const std::string address = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (!named || !IsIpAddress(address)) {
      return absl::InvalidArgumentError(
          ToAbsl(StrCat("\"", text, "\" is not GATEWAY.NAMESPACE=ADDRESS, like edge.shop=10.0.0.9")));
    }
    all[gateway].push_back(address);
  }
  return all;
}

std::unique_ptr<state::Derivation> NewDeploymentsDerivation(GatewayAddresses addresses) {
  return std::make_unique<Deployments>(std::move(addresses));
}

}  // namespace fairlead::gateway_api
