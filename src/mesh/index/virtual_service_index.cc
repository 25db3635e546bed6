#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/strings.h"
#include "config/derived_object.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "mesh/index/delegate_merge.h"
#include "mesh/index/export_to.h"
#include "mesh/index/virtual_service_index_builder.h"
#include "mesh/index/virtual_service_names.h"

namespace fairlead::mesh {
namespace {

namespace api = istio::networking::v1alpha3;
using config::ConfigPtr;

// Not empty: the object was made from a Gateway API route or an Ingress.
std::string_view SemanticsOf(const ConfigPtr& object) {
  return LabelOr(object->meta().annotations, config::kRouteSemanticsAnnotation);
}

// One without hosts is a delegate: it takes effect through the routes that name it only.
bool IsDelegate(const ConfigPtr& object) { return object->Spec<api::VirtualService>().hosts().empty(); }

bool MayDelegate(const ConfigPtr& object) { return SemanticsOf(object).empty(); }

config::Diagnostic RouteProblem(const ConfigPtr& root, int route, std::string code, std::string message) {
  return {.severity = config::Severity::kWarning,
          .code = std::move(code),
          .file = root->origin().file.str(),
          .line = root->origin().line,
          .object = config::KeyOf(*root),
          .path = StrCat("spec.http[", route, "].delegate"),
          .message = std::move(message)};
}

// The kinds of lists in an index.
enum class Lists : uint8_t { kEverywhere, kOwn, kExported };

std::string GroupKey(std::string_view ns, std::string_view gateway) { return StrCat(gateway, " ", ns); }

const VirtualServiceIndex::List* NoList() {
  static const auto* none = new VirtualServiceIndex::List();
  return none;
}

const VirtualServiceIndex::List* FindList(const VirtualServiceIndex::ListsByName& lists,
                                          std::string_view key) {
  const VirtualServiceIndex::ListPtr* list = lists.Find(key);
  return list == nullptr ? NoList() : list->get();
}

bool Older(const VirtualServicePtr& a, const VirtualServicePtr& b) {
  return config::OlderFirst(*a->object, *b->object);
}

// Calls file(list, key) for each of an index's lists that a virtual service belongs into besides the one of
// all.
template <typename File>
void FileInto(const VirtualServicePtr& virtual_service, File file) {
  const model::Visibility& visibility = virtual_service->visibility;
  const std::string_view home = virtual_service->object->ns();
  for (const std::string& gateway : virtual_service->gateways) {
    if (visibility.everywhere) file(Lists::kEverywhere, gateway);
    for (const std::string& ns : visibility.namespaces) {
      file(ns == home ? Lists::kOwn : Lists::kExported, GroupKey(ns, gateway));
    }
  }
}

bool HasDelegatingRoutes(const ConfigPtr& object) {
  const auto& routes = object->Spec<api::VirtualService>().http();
  return MayDelegate(object) && std::any_of(routes.begin(), routes.end(),
                                            [](const api::HTTPRoute& route) { return route.has_delegate(); });
}

// Puts the delegates' routes where the root's delegating routes are.
void MergeDelegates(const ConfigPtr& root, const std::vector<ConfigPtr>& delegates, std::string_view domain,
                    api::VirtualService* spec, std::vector<config::Diagnostic>* problems) {
  google::protobuf::RepeatedPtrField<api::HTTPRoute> routes;
  size_t next = 0;
  for (int i = 0; i < spec->http_size(); ++i) {
    api::HTTPRoute& route = *spec->mutable_http(i);
    if (!route.has_delegate()) {
      *routes.Add() = std::move(route);
      continue;
    }
    const ConfigPtr& delegate = delegates[next++];
    if (delegate == nullptr) continue;
    api::VirtualService qualified = delegate->Spec<api::VirtualService>();
    QualifyNames(delegate->ns(), domain, &qualified);
    const int dropped = AppendDelegateRoutes(route, qualified, &routes);
    if (dropped > 0) {
      problems->push_back(
          RouteProblem(root, i, "delegate-conflict",
                       StrCat(dropped, " routes of ", config::Describe(config::KeyOf(*delegate)),
                              " are dropped: their matches contradict this route's")));
    }
  }
  spec->mutable_http()->Swap(&routes);
}

}  // namespace

std::shared_ptr<const VirtualServiceIndex> VirtualServiceIndexBuilder::Build(
    const config::ObjectStore& store, const config::ObjectStore& before, const model::Settings& settings,
    std::vector<config::Diagnostic>* diagnostics) {
  Change change;
  const auto& objects = store.All(config::Kind::kVirtualService);
  const auto& known = before.All(config::Kind::kVirtualService);
  if (ApplySettings(settings)) {
    for (const auto& [name, object] : known) Update(name, nullptr, store, &change);
    for (const auto& [name, object] : objects) Update(name, object, store, &change);
  } else {
    objects.ForEachDifference(known, [&](const Name& name, const ConfigPtr*, const ConfigPtr* object) {
      Update(name, object == nullptr ? nullptr : *object, store, &change);
    });
    // Their delegates may have changed. A copy: Update changes the original.
    const auto delegating = delegating_;
    for (const auto& [name, object] : delegating) Update(name, object, store, &change);
  }
  for (const auto& [name, object] : delegating_) {
    const BuiltService& made = *built_.Find(name);
    diagnostics->insert(diagnostics->end(), made.missing.begin(), made.missing.end());
    diagnostics->insert(diagnostics->end(), made.problems.begin(), made.problems.end());
  }
  if (last_ != nullptr && change.empty()) return last_;
  auto index = last_ == nullptr ? std::make_shared<VirtualServiceIndex>()
                                : std::make_shared<VirtualServiceIndex>(*last_);
  ChangeLists(change, index.get());
  last_ = index;
  return index;
}

void VirtualServiceIndexBuilder::Update(const Name& name, const ConfigPtr& object,
                                        const config::ObjectStore& store, Change* change) {
  const BuiltService* known = built_.Find(name);
  const VirtualServicePtr before = known == nullptr ? nullptr : known->virtual_service;
  BuiltService made;
  if (object != nullptr) made = MakeOrKeep(object, store, known);
  if (made.virtual_service != before) {
    if (before != nullptr) change->gone.push_back(before);
    if (made.virtual_service != nullptr) change->fresh.push_back(made.virtual_service);
  }
  if (made.delegates) {
    delegating_.Set(name, object);
  } else {
    delegating_.Erase(name);
  }
  if (object == nullptr) {
    built_.Erase(name);
  } else {
    built_[name] = std::move(made);
  }
}

VirtualServiceIndexBuilder::BuiltService VirtualServiceIndexBuilder::MakeOrKeep(
    const ConfigPtr& object, const config::ObjectStore& store, const BuiltService* before) const {
  BuiltService made;
  made.object = object;
  if (IsDelegate(object)) return made;
  made.delegates = HasDelegatingRoutes(object);
  DelegateList delegates;
  if (made.delegates) delegates = FindDelegates(object, store, &made.missing);
  if (before != nullptr && before->object == object && before->virtual_service->delegates == delegates) {
    made.virtual_service = before->virtual_service;
    made.problems = before->problems;
  } else {
    Make(std::move(delegates), &made);
  }
  return made;
}

bool VirtualServiceIndexBuilder::ApplySettings(const model::Settings& settings) {
  std::vector<std::string> export_to = DefaultExportTo(settings.mesh->default_virtual_service_export_to());
  if (domain_ == settings.domain && default_export_to_ == export_to) return false;
  domain_ = settings.domain;
  default_export_to_ = std::move(export_to);
  return true;
}

ConfigPtr VirtualServiceIndexBuilder::FindDelegate(const ConfigPtr& root, const api::HTTPRoute& route,
                                                   int position, const config::ObjectStore& store,
                                                   std::vector<config::Diagnostic>* diagnostics) const {
  const std::string& delegate_ns = route.delegate().namespace_();
  const Interned ns = delegate_ns.empty() ? root->ns() : Interned(delegate_ns);
  ConfigPtr delegate = store.Find(config::Kind::kVirtualService, ns, route.delegate().name());
  const std::string name = StrCat("VirtualService ", ns.str(), "/", route.delegate().name());
  if (delegate == nullptr || !IsDelegate(delegate)) {
    diagnostics->push_back(
        RouteProblem(root, position, "missing-delegate",
                     StrCat("the route is dropped: ", name,
                            delegate == nullptr ? " does not exist" : " has hosts of its own")));
    return nullptr;
  }
  const auto& export_to = delegate->Spec<api::VirtualService>().export_to();
  if (!ResolveExportTo(export_to, default_export_to_, ns).VisibleIn(root->ns())) {
    diagnostics->push_back(
        RouteProblem(root, position, "delegate-not-visible",
                     StrCat("the route is dropped: ", name, " is not exported to ", root->ns().str())));
    return nullptr;
  }
  return delegate;
}

VirtualServiceIndexBuilder::DelegateList VirtualServiceIndexBuilder::FindDelegates(
    const ConfigPtr& root, const config::ObjectStore& store,
    std::vector<config::Diagnostic>* diagnostics) const {
  DelegateList delegates;
  if (!MayDelegate(root)) return delegates;
  const auto& routes = root->Spec<api::VirtualService>().http();
  for (int i = 0; i < routes.size(); ++i) {
    if (routes[i].has_delegate()) delegates.push_back(FindDelegate(root, routes[i], i, store, diagnostics));
  }
  return delegates;
}

void VirtualServiceIndexBuilder::Make(DelegateList delegates, BuiltService* out) const {
  const ConfigPtr& root = out->object;
  auto made = std::make_shared<VirtualService>();
  made->object = root;
  made->gateway_semantics = SemanticsOf(root) == "gateway";
  made->spec = root->SharedSpec<api::VirtualService>();
  if (!made->gateway_semantics) {
    auto spec = std::make_shared<api::VirtualService>(*made->spec);
    const bool changed = QualifyNames(root->ns(), domain_, spec.get());
    if (!delegates.empty()) MergeDelegates(root, delegates, domain_, spec.get(), &out->problems);
    if (changed || !delegates.empty()) made->spec = std::move(spec);
  }
  made->delegates = std::move(delegates);
  made->gateways.assign(made->spec->gateways().begin(), made->spec->gateways().end());
  if (made->gateways.empty()) made->gateways.push_back("mesh");
  made->for_mesh = std::find(made->gateways.begin(), made->gateways.end(), "mesh") != made->gateways.end();
  made->visibility = ResolveExportTo(made->spec->export_to(), default_export_to_, root->ns());
  made->destinations = CollectDestinations(*made->spec);
  out->virtual_service = std::move(made);
}

void VirtualServiceIndexBuilder::ChangeLists(const Change& change, VirtualServiceIndex* index) {
  std::map<std::pair<Lists, std::string>, Change> lists;
  for (const VirtualServicePtr& gone : change.gone) {
    FileInto(gone, [&](Lists kind, std::string key) { lists[{kind, std::move(key)}].gone.push_back(gone); });
  }
  for (const VirtualServicePtr& fresh : change.fresh) {
    FileInto(fresh, [&](Lists kind, std::string key) {
      lists[{kind, std::move(key)}].fresh.push_back(fresh);
    });
  }
  index->all_ = Changed(index->all_.get(), change, Older);
  ChangeOfMesh(change, index);
  const auto of_kind = [index](Lists kind) -> auto& {
    switch (kind) {
      case Lists::kEverywhere:
        return index->everywhere_;
      case Lists::kOwn:
        return index->own_;
      default:
        return index->exported_;
    }
  };
  for (const auto& [name, of_list] : lists) {
    VirtualServiceIndex::ListPtr& list = of_kind(name.first)[name.second];
    list = Changed(list.get(), of_list, Older);
    if (list == nullptr) of_kind(name.first).Erase(name.second);
  }
}

void VirtualServiceIndexBuilder::ChangeOfMesh(const Change& change, VirtualServiceIndex* index) {
  absl::flat_hash_map<Interned, Change> namespaces;
  for (const auto which : {&Change::gone, &Change::fresh}) {
    for (const VirtualServicePtr& one : change.*which) {
      if (one->for_mesh) (namespaces[one->object->ns()].*which).push_back(one);
    }
  }
  for (const auto& [ns, of_namespace] : namespaces) {
    VirtualServiceIndex::ListPtr list = Changed(index->OfMeshIn(ns).get(), of_namespace, Older);
    if (list == nullptr) {
      index->of_mesh_in_.Erase(ns);
    } else {
      index->of_mesh_in_[ns] = std::move(list);
    }
  }
}

const VirtualServiceIndex::List& VirtualServiceIndex::All() const {
  return all_ == nullptr ? *NoList() : *all_;
}

VirtualServiceIndex::ListPtr VirtualServiceIndex::OfMeshIn(std::string_view ns) const {
  const ListPtr* list = of_mesh_in_.Find(ns);
  return list == nullptr ? nullptr : *list;
}

VirtualServiceIndex::ListPtr VirtualServiceIndex::OwnOf(std::string_view ns, std::string_view gateway) const {
  const ListPtr* list = own_.Find(GroupKey(ns, gateway));
  return list == nullptr ? nullptr : *list;
}

VirtualServiceIndex::ListPtr VirtualServiceIndex::ExportedTo(std::string_view ns,
                                                             std::string_view gateway) const {
  const ListPtr* list = exported_.Find(GroupKey(ns, gateway));
  return list == nullptr ? nullptr : *list;
}

VirtualServiceIndex::ListPtr VirtualServiceIndex::ForAll(std::string_view gateway) const {
  const ListPtr* list = everywhere_.Find(gateway);
  return list == nullptr ? nullptr : *list;
}

std::array<const VirtualServiceIndex::List*, 3> VirtualServiceIndex::GroupsFor(
    std::string_view ns, std::string_view gateway) const {
  const std::string key = GroupKey(ns, gateway);
  return {FindList(own_, key), FindList(exported_, key), FindList(everywhere_, gateway)};
}

VirtualServiceIndex::List VirtualServiceIndex::VisibleIn(std::string_view ns,
                                                         std::string_view gateway) const {
  const auto [own, exported, everywhere] = GroupsFor(ns, gateway);
  return InOrder(ns, own, exported, everywhere);
}

VirtualServiceIndex::List VirtualServiceIndex::InOrder(std::string_view ns, const List* own,
                                                       const List* exported, const List* everywhere) {
  for (const List** group : {&own, &exported, &everywhere}) {
    if (*group == nullptr) *group = NoList();
  }
  List visible;
  visible.reserve(own->size() + exported->size() + everywhere->size());
  visible.insert(visible.end(), own->begin(), own->end());
  visible.insert(visible.end(), exported->begin(), exported->end());
  const auto first = [ns](const VirtualServicePtr& v) {
    return v->gateway_semantics && v->object->ns() == ns;
  };
  std::copy_if(everywhere->begin(), everywhere->end(), std::back_inserter(visible), first);
  std::copy_if(everywhere->begin(), everywhere->end(), std::back_inserter(visible), std::not_fn(first));
  return visible;
}

}  // namespace fairlead::mesh
