#ifndef FAIRLEAD_MESH_VIEW_VISIBLE_MESH_H_
#define FAIRLEAD_MESH_VIEW_VISIBLE_MESH_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/interned.h"
#include "mesh/index/destination_rule_index.h"
#include "mesh/view/view.h"

namespace fairlead::mesh {

// What clients in one namespace can see of the mesh, read through a view: whole indexes only where anything
// may count, else the parts of the namespaces that are asked for. Most scopes read few namespaces, and so
// outlive what happens in others. Used by one thread while a scope is made; `view` must outlive it.
class VisibleMesh {
 public:
  VisibleMesh(View* view, std::string_view ns) : view_(view), ns_(ns) {}

  const model::Settings& settings() { return *view_->settings(model::SettingsPart::kScopes); }
  // All services that clients of the namespace see, as ServiceIndex::VisibleIn has them.
  ServiceIndex::Services Services() { return view_->all_services().VisibleIn(ns_); }
  // Those of them that live in one of these namespaces, in the same order.
  ServiceIndex::Services Services(const std::vector<std::string_view>& from);
  // As ServiceIndex::Find.
  model::ServicePtr FindService(std::string_view hostname, std::string_view from) {
    return view_->FindService(hostname, from);
  }
  // See View::Destination.
  model::ServicePtr Destination(const std::string& host) { return view_->Destination(host, ns_); }
  // As VirtualServiceIndex::VisibleIn, of those for sidecars.
  VirtualServiceIndex::List CompetingVirtualServices() {
    return view_->all_virtual_services().VisibleIn(ns_, "mesh");
  }
  // The same, but in each of VirtualServiceIndex's groups the namespace's own Gateway API routes go first.
  VirtualServiceIndex::List VirtualServices();
  // Those of them that live in one of these namespaces.
  VirtualServiceIndex::List VirtualServices(const std::vector<std::string_view>& from);
  // As DestinationRuleIndex::Lookup.
  DestinationRuleIndex::List Rules(const model::Service& service);

 private:
  View* const view_;
  const Interned ns_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_VISIBLE_MESH_H_
