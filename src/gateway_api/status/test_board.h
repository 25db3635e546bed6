#ifndef FAIRLEAD_GATEWAY_API_STATUS_TEST_BOARD_H_
#define FAIRLEAD_GATEWAY_API_STATUS_TEST_BOARD_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "config/read/manifests.h"
#include "gateway_api/derivation.h"
#include "gateway_api/status/status_board.h"
#include "model/mesh_config.h"
#include "state/mesh.h"

namespace fairlead::gateway_api {

// For tests: a mesh whose statuses are on a board.
class TestBoard {
 public:
  explicit TestBoard(std::vector<VerdictCondition> conditions = {})
      : mesh_(Steps()), board_(std::move(conditions)) {
    Apply(std::vector<config::ObjectChange>());
  }

  void Apply(const std::vector<config::ObjectChange>& changes) {
    mesh_.Apply(changes, mesh_.snapshot() == nullptr ? Settings("") : nullptr);
    board_.OnPublished(mesh_);
  }
  void Apply(std::string_view manifests, bool gone = false) {
    std::vector<config::ObjectChange> changes;
    for (const auto& object :
         config::ParseManifests(manifests, "test.yaml", config::Admission::kPassed).objects)
      changes.push_back({config::KeyOf(*object), gone ? nullptr : object});
    EXPECT_FALSE(changes.empty()) << manifests;
    Apply(changes);
  }
  void SetMeshConfig(std::string_view mesh_config) {
    mesh_.Apply({}, Settings(mesh_config));
    board_.OnPublished(mesh_);
  }

  StatusBoard& board() { return board_; }
  // "KIND namespace/name" and the status as JSON.
  std::map<std::string, std::string> Texts() {
    std::map<std::string, std::string> texts;
    for (const auto& [key, status] : board_.Current())
      texts[config::Describe(KeyOf(*status->object))] = JsonText(status->status);
    return texts;
  }
  // The same, made at once of the whole mesh.
  std::map<std::string, std::string> FreshTexts() const {
    std::map<std::string, std::string> texts;
    const Translation& translation = *mesh_.Find<GatewayApiDerivation>()->translation();
    for (const StatusOf& one : ComputeStatuses(translation, mesh_.written(), *mesh_.snapshot()))
      texts[config::Describe(KeyOf(*one.object))] = JsonText(one.status);
    return texts;
  }

 private:
  static std::vector<std::unique_ptr<state::Derivation>> Steps() {
    std::vector<std::unique_ptr<state::Derivation>> steps;
    steps.push_back(std::make_unique<GatewayApiDerivation>());
    return steps;
  }
  static model::SettingsPtr Settings(std::string_view mesh_config) {
    model::SettingsOptions options;
    options.features.inference_pools = true;
    return model::MakeSettings(model::ParseMeshConfig(mesh_config, "mesh.yaml").mesh,
                               model::ParseMeshNetworks("", "networks.yaml").networks, options);
  }

  state::Mesh mesh_;
  StatusBoard board_;
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_TEST_BOARD_H_
