#ifndef FAIRLEAD_APP_IGNORED_KINDS_H_
#define FAIRLEAD_APP_IGNORED_KINDS_H_

#include <memory>
#include <set>
#include <string_view>

#include "config/kind.h"
#include "source/source.h"

namespace fairlead::app {

// The kinds with a custom resource definition of a name among `ignored` that is not among `included`
// (PILOT_IGNORE_RESOURCES, PILOT_INCLUDE_RESOURCES): names with commas between,
// "wasmplugins.extensions.istio.io", or ends of names, "*.istio.io". Kubernetes' own kinds are never among
// them. Source: Istio's filterPilotResources.
std::set<config::Kind> IgnoredKinds(std::string_view ignored, std::string_view included);

// A sink in front of another one, for which objects of these kinds do not exist, nor what is wrong with them.
// `next` must outlive it.
std::unique_ptr<source::Sink> MakeKindFilter(std::set<config::Kind> ignored, source::Sink* next);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_IGNORED_KINDS_H_
