#ifndef FAIRLEAD_APP_IGNORED_OBJECTS_H_
#define FAIRLEAD_APP_IGNORED_OBJECTS_H_

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "app/environment.h"
#include "config/kind.h"
#include "config/object.h"
#include "source/source.h"

namespace fairlead::app {

// The kinds with a custom resource definition of a name among `ignored` that is not among `included`
// (PILOT_IGNORE_RESOURCES, PILOT_INCLUDE_RESOURCES): names with commas between,
// "wasmplugins.extensions.istio.io", or ends of names, "*.istio.io". Kubernetes' own kinds are never among
// them. Source: Istio's filterPilotResources.
std::set<config::Kind> IgnoredKinds(std::string_view ignored, std::string_view included);

// The objects that do not exist for the mesh although a source has them.
struct IgnoredObjects {
  std::set<config::Kind> kinds;
  // Where not empty, of Kubernetes' own kinds and the Gateway API's only objects of this namespace exist, and
  // those without a namespace. Istio's kinds of a folder are read whole. Source: Istio's kclient.ToOpts,
  // which limits what is watched of an API server, and file.NewController, which knows no such limit.
  std::string only_namespace;

  bool empty() const { return kinds.empty() && only_namespace.empty(); }
  bool Has(const config::ObjectKey& key) const;
};
// PILOT_IGNORE_RESOURCES, PILOT_INCLUDE_RESOURCES and ISTIO_WATCH_NAMESPACE.
IgnoredObjects IgnoredBy(const Environment& environment);

// A sink in front of another one, for which these objects do not exist, nor what is wrong with them. `next`
// must outlive it.
std::unique_ptr<source::Sink> MakeObjectFilter(IgnoredObjects ignored, source::Sink* next);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_IGNORED_OBJECTS_H_
