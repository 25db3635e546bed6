#ifndef FAIRLEAD_SIMULATE_LOADED_MESH_H_
#define FAIRLEAD_SIMULATE_LOADED_MESH_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/diagnostic.h"
#include "config/object.h"
#include "mesh/index/snapshot.h"

namespace fairlead::simulate {

// A mesh that was read once, by the parts that `fairlead discovery` is made of.
struct LoadedMesh {
  mesh::SnapshotPtr snapshot;                              // never null
  std::map<config::ObjectKey, config::ConfigPtr> objects;  // all that count
  std::vector<config::Diagnostic> diagnostics;
  // The substitutes for templates of workloads without Pods (see made_up.h): Pods and addresses, each with
  // its template. Also the number of Services with a made-up address.
  std::map<config::ObjectKey, std::string> made_up_pods;
  std::map<std::string, std::string> made_up_addresses;
  size_t made_up_services = 0;

  // All objects of a kind, in the order of their keys.
  std::vector<config::ConfigPtr> Of(config::Kind kind) const;
};

// Where a mesh is read from, as the flags of `fairlead discovery` say it.
struct MeshFiles {
  std::string folder = {};                             // of manifests
  std::string mesh_config = {}, networks_config = {};  // paths; "" for none
  std::string domain = "cluster.local", cluster_id = "Kubernetes", system_namespace = "istio-system";
  // For a simulation: what a cluster would make of the manifests is made up, and routes without a name are
  // named by their place ("spec.http[1]").
  bool simulated = false;
};

// NotFound where there is no such folder; mistakes in what it holds are diagnostics.
using MeshLoader = std::function<absl::StatusOr<LoadedMesh>(const MeshFiles&)>;

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_LOADED_MESH_H_
