#include "mesh/view/visible_mesh.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "mesh/index/service_index_builder.h"

namespace fairlead::mesh {

using model::ServicePtr;

ServiceIndex::Services VisibleMesh::Services(const std::vector<std::string_view>& from) {
  ServiceIndex::Services visible;
  for (std::string_view ns : from) {
    const NamespaceServicesPtr of_namespace = view_->Services(ns);
    if (of_namespace == nullptr) continue;
    std::copy_if(of_namespace->all.begin(), of_namespace->all.end(), std::back_inserter(visible),
                 [this](const ServicePtr& service) { return service->visibility.VisibleIn(ns_); });
  }
  std::sort(visible.begin(), visible.end(), [](const ServicePtr& a, const ServicePtr& b) {
    if (a->visibility.everywhere != b->visibility.everywhere) return b->visibility.everywhere;
    return ServiceBefore(a, b);
  });
  return visible;
}

VirtualServiceIndex::List VisibleMesh::VirtualServices() {
  VirtualServiceIndex::List visible;
  for (const VirtualServiceIndex::List* group : view_->all_virtual_services().GroupsFor(ns_, "mesh")) {
    const auto own_route = [this](const VirtualServicePtr& v) {
      return v->gateway_semantics && v->object->ns() == ns_;
    };
    std::copy_if(group->begin(), group->end(), std::back_inserter(visible), own_route);
    std::copy_if(group->begin(), group->end(), std::back_inserter(visible), std::not_fn(own_route));
  }
  return visible;
}

VirtualServiceIndex::List VisibleMesh::VirtualServices(const std::vector<std::string_view>& from) {
  struct Ranked {
    int group;       // of VirtualServiceIndex::GroupsFor
    bool after_own;  // the namespace's own Gateway API routes go first
    VirtualServicePtr virtual_service;
  };
  std::vector<Ranked> ranked;
  for (std::string_view ns : from) {
    const VirtualServiceIndex::ListPtr of_namespace = view_->VirtualServicesIn(ns);
    if (of_namespace == nullptr) continue;
    const bool own = ns_ == ns;
    for (const VirtualServicePtr& v : *of_namespace) {
      if (!v->visibility.VisibleIn(ns_)) continue;
      ranked.push_back({v->visibility.everywhere ? 2 : own ? 0 : 1, !(own && v->gateway_semantics), v});
    }
  }
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    if (a.group != b.group) return a.group < b.group;
    if (a.after_own != b.after_own) return b.after_own;
    return config::OlderFirst(*a.virtual_service->object, *b.virtual_service->object);
  });
  VirtualServiceIndex::List visible;
  visible.reserve(ranked.size());
  for (Ranked& entry : ranked) visible.push_back(std::move(entry.virtual_service));
  return visible;
}

DestinationRuleIndex::List VisibleMesh::Rules(const model::Service& service) {
  const Interned root(settings().root_namespace);
  return DestinationRuleIndex::LookupIn(view_->RulesIn(ns_).get(), view_->RulesIn(service.ns).get(),
                                        view_->RulesIn(root).get(), root == ns_, ns_, service.hostname);
}

}  // namespace fairlead::mesh
