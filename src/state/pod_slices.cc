#include "state/pod_slices.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "base/strings.h"
#include "config/kubernetes_types.h"

namespace fairlead::state {
namespace {

using config::ConfigPtr;
using config::Kind;
using config::ObjectChange;
using Name = std::pair<Interned, Interned>;      // namespace, name
using Names = std::vector<Name>;                 // sorted
using Label = std::pair<Interned, std::string>;  // namespace, "key=value"

void Insert(const Name& name, Names* names) {
  const auto at = std::lower_bound(names->begin(), names->end(), name);
  if (at == names->end() || *at != name) names->insert(at, name);
}

void Remove(const Name& name, Names* names) {
  const auto at = std::lower_bound(names->begin(), names->end(), name);
  if (at != names->end() && *at == name) names->erase(at);
}

Label LabelOf(const Interned& ns, const std::pair<const std::string, std::string>& label) {
  return {ns, StrCat(label.first, "=", label.second)};
}

class PodSlicesDerivation final : public Derivation {
 public:
  std::unique_ptr<Derivation> Clone() const override { return std::make_unique<PodSlicesDerivation>(*this); }

  Outcome Apply(const config::ObjectStore& objects, std::span<const ObjectChange> changes,
                const model::SettingsPtr& /*settings*/) override {
    Work work{objects, {}, {}, {}, {}, {}, false};
    for (const ObjectChange& change : changes) Note(change, &work);
    for (const Name& name : work.services) UpdateService(name, &work);
    for (const Interned& ns : work.namespaces) {
      const auto& all = objects.All(Kind::kPod);
      for (auto at = all.LowerBound({ns, Interned()}); at != all.end() && at->first.first == ns; ++at)
        work.pods.insert(at->first);
    }
    for (const Name& name : work.pods) UpdatePod(name, &work);
    for (const Name& name : work.dirty) Make(name, &work);
    return {.objects = std::move(work.made), .diagnostics = work.problems};
  }

  std::vector<config::Diagnostic> Diagnostics() const override {
    std::vector<config::Diagnostic> all;
    for (const auto& [name, problem] : problems_) all.push_back(problem);
    return all;
  }

 private:
  // Of an Apply that runs.
  struct Work {
    const config::ObjectStore& objects;
    std::set<Name> services, pods;  // to look at
    std::set<Interned> namespaces;  // in which there are new Services: all their Pods are to be looked at
    std::set<Name> dirty;           // Services whose slices are to be made
    std::vector<ObjectChange> made;
    bool problems;  // whether they may be others
  };
  // A Service that wants slices and has none.
  struct Record {
    LabelMap selector;
    Label label;  // the one of the selector by which it is found
    Names pods;   // that the selector picks
    size_t made = 0;
  };

  void Note(const ObjectChange& change, Work* work) {
    const Name name{change.key.ns, change.key.name};
    if (change.key.kind == Kind::kService) work->services.insert(name);
    if (change.key.kind == Kind::kPod) work->pods.insert(name);
    if (change.key.kind == Kind::kEndpointSlice) NoteSlice(name, change.object, work);
  }

  void NoteSlice(const Name& slice, const ConfigPtr& object, Work* work) {
    if (const Name* before = service_of_slice_.Find(slice)) {
      const Name service = *before;
      Remove(slice, &slices_[service]);
      if (slices_.Find(service)->empty()) slices_.Erase(service);
      service_of_slice_.Erase(slice);
      work->services.insert(service);
    }
    if (object == nullptr) return;
    const std::string_view name = LabelOr(object->meta().labels, "kubernetes.io/service-name");
    if (name.empty()) return;
    const Name service{slice.first, Interned(name)};
    Insert(slice, &slices_[service]);
    service_of_slice_[slice] = service;
    work->services.insert(service);
  }

  void UpdateService(const Name& name, Work* work) {
    const ConfigPtr object = work->objects.Find(Kind::kService, name.first, name.second);
    const bool wants = object != nullptr && WantsSlices(*object) && !slices_.contains(name);
    const Record* known = records_.Find(name);
    if (known == nullptr && !wants) return;
    work->dirty.insert(name);
    if (known != nullptr && wants && known->selector == object->Spec<config::ServiceSpec>().selector) return;
    if (known != nullptr) Forget(name, *known);
    if (!wants) return;
    Record& record = records_[name];
    record.selector = object->Spec<config::ServiceSpec>().selector;
    record.label = RarestLabel(name.first, record.selector);
    Insert(name, &by_label_[record.label]);
    work->namespaces.insert(name.first);
  }

  // Of a Service's labels one that few others select by, too.
  Label RarestLabel(const Interned& ns, const LabelMap& selector) const {
    std::pair<size_t, Label> best{SIZE_MAX, {}};
    for (const auto& pair : selector) {
      Label label = LabelOf(ns, pair);
      const Names* others = by_label_.Find(label);
      const size_t count = others == nullptr ? 0 : others->size();
      if (count < best.first) best = {count, std::move(label)};
    }
    return best.second;
  }

  // Its slices go, or are made anew, in Make.
  void Forget(const Name& name, const Record& record) {
    for (const Name& pod : record.pods) {
      Remove(name, &services_of_pod_[pod]);
      if (services_of_pod_.Find(pod)->empty()) services_of_pod_.Erase(pod);
    }
    const Label label = record.label;
    Remove(name, &by_label_[label]);
    if (by_label_.Find(label)->empty()) by_label_.Erase(label);
    if (record.made > 0) stale_[name] = std::max(record.made, Stale(name));
    records_.Erase(name);
  }

  size_t Stale(const Name& name) const {
    const size_t* made = stale_.Find(name);
    return made == nullptr ? 0 : *made;
  }

  void UpdatePod(const Name& pod, Work* work) {
    const ConfigPtr object = work->objects.Find(Kind::kPod, pod.first, pod.second);
    Names now;
    if (object != nullptr) now = ServicesOf(*object);
    const Names* known = services_of_pod_.Find(pod);
    if (known == nullptr && now.empty()) return;
    const Names before = known == nullptr ? Names() : *known;
    work->dirty.insert(before.begin(), before.end());
    work->dirty.insert(now.begin(), now.end());
    if (now == before) return;
    for (const Name& service : before) {
      if (!std::binary_search(now.begin(), now.end(), service)) Remove(pod, &records_[service].pods);
    }
    for (const Name& service : now) {
      if (!std::binary_search(before.begin(), before.end(), service)) Insert(pod, &records_[service].pods);
    }
    if (now.empty()) {
      services_of_pod_.Erase(pod);
    } else {
      services_of_pod_[pod] = std::move(now);
    }
  }

  Names ServicesOf(const config::ConfigObject& pod) const {
    Names services;
    if (by_label_.empty()) return services;
    for (const auto& pair : pod.meta().labels) {
      const Names* some = by_label_.Find(LabelOf(pod.ns(), pair));
      if (some == nullptr) continue;
      for (const Name& name : *some) {
        if (SelectorMatches(records_.Find(name)->selector, pod.meta().labels)) services.push_back(name);
      }
    }
    std::sort(services.begin(), services.end());
    return services;
  }

  void Make(const Name& name, Work* work) {
    const Record* record = records_.Find(name);
    const size_t before = std::max(Stale(name), record == nullptr ? 0 : record->made);
    stale_.Erase(name);
    PodSlices slices;
    if (record != nullptr) {
      std::vector<ConfigPtr> pods;
      for (const Name& pod : record->pods) {
        if (ConfigPtr object = work->objects.Find(Kind::kPod, pod.first, pod.second))
          pods.push_back(std::move(object));
      }
      slices = MakePodSlices(*work->objects.Find(Kind::kService, name.first, name.second), pods);
      if (record->made != slices.slices.size()) records_[name].made = slices.slices.size();
    }
    work->problems |= slices.problem.has_value() || problems_.contains(name);
    if (slices.problem) {
      problems_.Set(name, *slices.problem);
    } else {
      problems_.Erase(name);
    }
    Emit(name, before, slices.slices, work);
  }

  // `before`: how many there were.
  static void Emit(const Name& name, size_t before, const std::vector<ConfigPtr>& slices, Work* work) {
    for (const ConfigPtr& slice : slices) work->made.push_back({KeyOf(*slice), slice});
    for (size_t i = slices.size(); i < before; ++i) {
      work->made.push_back({{Kind::kEndpointSlice, name.first, PodSliceName(name.second.str(), i)}, nullptr});
    }
  }

  ShardedMap<Name, Record> records_;
  ShardedMap<Label, Names> by_label_;
  ShardedMap<Name, Names> services_of_pod_;
  ShardedMap<Name, Names> slices_;           // those that are written, by their Service
  ShardedMap<Name, Name> service_of_slice_;  // the same the other way round
  ShardedMap<Name, size_t> stale_;  // within an Apply: how many slices a Service had whose record went
  SortedMap<Name, config::Diagnostic> problems_;
};

}  // namespace

std::unique_ptr<Derivation> NewPodSlicesDerivation() { return std::make_unique<PodSlicesDerivation>(); }

}  // namespace fairlead::state
