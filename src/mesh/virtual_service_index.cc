#include "mesh/virtual_service_index.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "mesh/delegate_merge.h"
#include "mesh/export_to.h"
#include "mesh/object_index.h"
#include "mesh/virtual_service_names.h"

namespace fairlead::mesh {
namespace {

namespace api = istio::networking::v1alpha3;
using config::ConfigPtr;

// Objects that were made from a Gateway API route or an Ingress say so in this annotation.
constexpr std::string_view kSemanticsAnnotation = "internal.istio.io/route-semantics";

std::string_view SemanticsOf(const ConfigPtr& object) {
  return LabelOr(object->meta().annotations, kSemanticsAnnotation);
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

std::string GroupKey(std::string_view ns, std::string_view gateway) { return StrCat(gateway, " ", ns); }

const VirtualServiceIndex::List* FindList(const StringMap<VirtualServiceIndex::List>& lists,
                                          std::string_view key) {
  static const auto* none = new VirtualServiceIndex::List();
  auto it = lists.find(key);
  return it == lists.end() ? none : &it->second;
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
    const config::ObjectStore& store, const model::Settings& settings,
    std::vector<config::Diagnostic>* diagnostics) {
  ApplySettings(settings);
  auto index = std::make_shared<VirtualServiceIndex>();
  absl::flat_hash_map<const config::ConfigObject*, Made> made;
  for (const ConfigPtr& object : OldestFirst(store, config::Kind::kVirtualService)) {
    if (IsDelegate(object)) continue;
    DelegateList delegates = FindDelegates(object, store, diagnostics);
    auto known = made_.find(object.get());
    const bool unchanged = known != made_.end() && known->second.virtual_service->delegates == delegates;
    Made& entry = made[object.get()];
    entry = unchanged ? known->second : Make(object, std::move(delegates));
    diagnostics->insert(diagnostics->end(), entry.problems.begin(), entry.problems.end());
    Place(entry.virtual_service, index.get());
  }
  made_ = std::move(made);
  return index;
}

void VirtualServiceIndexBuilder::ApplySettings(const model::Settings& settings) {
  std::vector<std::string> export_to = DefaultExportTo(settings.mesh->default_virtual_service_export_to());
  if (domain_ == settings.domain && default_export_to_ == export_to) return;
  domain_ = settings.domain;
  default_export_to_ = std::move(export_to);
  made_.clear();
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

VirtualServiceIndexBuilder::Made VirtualServiceIndexBuilder::Make(const ConfigPtr& root,
                                                                  DelegateList delegates) const {
  std::vector<config::Diagnostic> problems;
  auto made = std::make_shared<VirtualService>();
  made->object = root;
  made->gateway_semantics = SemanticsOf(root) == "gateway";
  made->spec = root->SharedSpec<api::VirtualService>();
  if (!made->gateway_semantics) {
    auto spec = std::make_shared<api::VirtualService>(*made->spec);
    const bool changed = QualifyNames(root->ns(), domain_, spec.get());
    if (!delegates.empty()) MergeDelegates(root, delegates, domain_, spec.get(), &problems);
    if (changed || !delegates.empty()) made->spec = std::move(spec);
  }
  made->delegates = std::move(delegates);
  made->gateways.assign(made->spec->gateways().begin(), made->spec->gateways().end());
  if (made->gateways.empty()) made->gateways.push_back("mesh");
  made->for_mesh = std::find(made->gateways.begin(), made->gateways.end(), "mesh") != made->gateways.end();
  made->visibility = ResolveExportTo(made->spec->export_to(), default_export_to_, root->ns());
  made->destinations = CollectDestinations(*made->spec);
  return {std::move(made), std::move(problems)};
}

void VirtualServiceIndexBuilder::Place(const VirtualServicePtr& virtual_service, VirtualServiceIndex* index) {
  index->all_.push_back(virtual_service);
  const model::Visibility& visibility = virtual_service->visibility;
  const std::string_view home = virtual_service->object->ns();
  for (const std::string& gateway : virtual_service->gateways) {
    if (visibility.everywhere) index->everywhere_[gateway].push_back(virtual_service);
    for (const std::string& ns : visibility.namespaces) {
      (ns == home ? index->own_ : index->exported_)[GroupKey(ns, gateway)].push_back(virtual_service);
    }
  }
}

std::array<const VirtualServiceIndex::List*, 3> VirtualServiceIndex::GroupsFor(
    std::string_view ns, std::string_view gateway) const {
  const std::string key = GroupKey(ns, gateway);
  return {FindList(own_, key), FindList(exported_, key), FindList(everywhere_, gateway)};
}

VirtualServiceIndex::List VirtualServiceIndex::VisibleIn(std::string_view ns,
                                                         std::string_view gateway) const {
  const auto [own, exported, everywhere] = GroupsFor(ns, gateway);
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
