#ifndef FAIRLEAD_STATE_POD_SLICES_H_
#define FAIRLEAD_STATE_POD_SLICES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "config/object.h"
#include "state/derivation.h"

// EndpointSlices of Services whose selector picks Pods, where none is written: a folder of manifests has no
// controller that would make them. Source: Kubernetes documentation, "EndpointSlices"; discovery/v1; the
// rules by which its endpoint slice controller picks Pods, addresses and ports.
namespace fairlead::state {

// Whether a cluster's controller would make slices for the Service: it has a selector, and is no other name
// of something else.
bool WantsSlices(const config::ConfigObject& service);

// The name of the Service's slice of this number, from 0. Kubernetes lets no object have one like it.
std::string PodSliceName(std::string_view service, size_t number);

struct PodSlices {
  // One for each family of addresses and each set of ports: a named port may be another number in each Pod.
  std::vector<config::ConfigPtr> slices;
  // Pods are picked and none can be called, or a port's name says nothing to any of them.
  std::optional<config::Diagnostic> problem;
};
// Of the Pods that the Service's selector picks. A Pod that has ended or has no address is left out, one that
// is not ready or about to go is marked so. Pure. REQUIRES: WantsSlices(service).
PodSlices MakePodSlices(const config::ConfigObject& service, const std::vector<config::ConfigPtr>& pods);

// The step that makes them: of each Service that wants slices and has none written, or made by an earlier
// step. A change costs what it touches: a Pod the Services that pick it, a new Service the Pods of its
// namespace.
std::unique_ptr<Derivation> NewPodSlicesDerivation();

}  // namespace fairlead::state

#endif  // FAIRLEAD_STATE_POD_SLICES_H_
