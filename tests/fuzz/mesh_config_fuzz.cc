#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "model/mesh_config.h"
#include "proto/messages.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: any bytes may stand in the mesh's own files. There are settings or a mistake, never both or
// neither, and the same text gives the same.
namespace {

using fairlead::config::Diagnostic;
using fairlead::config::Severity;
using fairlead::fuzz::Require;

bool HasMistake(const std::vector<Diagnostic>& diagnostics) {
  return std::ranges::any_of(diagnostics,
                             [](const auto& found) { return found.severity == Severity::kError; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::model::ParseMeshConfig;
  using fairlead::model::ParseMeshNetworks;
  using fairlead::proto::DeterministicBytes;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto mesh = ParseMeshConfig(text, "mesh");
  const auto networks = ParseMeshNetworks(text, "networks");
  Require((mesh.mesh == nullptr) == HasMistake(mesh.diagnostics), "MeshConfig and mistakes");
  Require((networks.networks == nullptr) == HasMistake(networks.diagnostics), "MeshNetworks and mistakes");
  const auto again = ParseMeshConfig(text, "mesh");
  Require(again.diagnostics.size() == mesh.diagnostics.size(), "other diagnostics");
  if (mesh.mesh == nullptr) return 0;
  Require(DeterministicBytes(*again.mesh) == DeterministicBytes(*mesh.mesh), "another MeshConfig");
  Require(fairlead::model::MakeSettings(mesh.mesh, networks.networks, "cluster.local", "k") != nullptr,
          "no settings");
  return 0;
}
