#include "mesh/view/settings_questions.h"

#include <algorithm>

#include "istio/mesh/v1alpha1/network.pb.h"

namespace fairlead::mesh::questions {

void SettingsPart::Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  if (before.settings == after.settings || after.settings == nullptr) return;
  for (size_t i = 0; i < model::kSettingsPartCount; ++i) {
    const auto part = static_cast<model::SettingsPart>(i);
    if (before.settings == nullptr || Answer(before, part) != Answer(after, part)) visit(part);
  }
}

std::vector<std::string> InternalRanges::Answer(const MeshSnapshot& mesh) {
  std::vector<std::string> ranges;
  if (mesh.settings == nullptr || mesh.settings->networks == nullptr) return ranges;
  for (const auto& [name, network] : mesh.settings->networks->networks()) {
    for (const auto& endpoints : network.endpoints()) {
      if (!endpoints.from_cidr().empty()) ranges.push_back(endpoints.from_cidr());
    }
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

void InternalRanges::Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  if (before.settings == after.settings) return;
  if (Answer(after) != Answer(before)) visit({});
}

model::KeySetPtr KeySet::Answer(const MeshSnapshot& mesh, const Interned& uri, const Interned& issuer) {
  if (mesh.key_sets == nullptr) return nullptr;
  const auto found = mesh.key_sets->find({uri, issuer});
  return found == mesh.key_sets->end() ? nullptr : found->second;
}

model::SecretAccess SecretAccess::Answer(const MeshSnapshot& mesh, const Interned& cluster,
                                         const Interned& account) {
  if (mesh.secret_readers == nullptr) return model::SecretAccess::kUnknown;
  const auto& verdicts = mesh.secret_readers->verdicts;
  const auto found = verdicts.find({cluster, account});
  return found == verdicts.end() ? model::SecretAccess::kUnknown : found->second;
}

}  // namespace fairlead::mesh::questions
