#ifndef FAIRLEAD_MESH_VIEW_SETTINGS_QUESTIONS_H_
#define FAIRLEAD_MESH_VIEW_SETTINGS_QUESTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "mesh/index/difference.h"

// Questions about the settings, and about what is learnt from elsewhere. See question.h.
namespace fairlead::mesh::questions {

// All of them.
struct Settings {
  static constexpr bool kConcernsAll = true;
  static const model::SettingsPtr& Answer(const MeshSnapshot& mesh) { return mesh.settings; }
  static constexpr auto Difference = Whole<&MeshSnapshot::settings>;
};

// Cut down to what one consumer reads.
struct SettingsPart {
  static constexpr bool kConcernsAll = true;
  static const model::SettingsPtr& Answer(const MeshSnapshot& mesh, model::SettingsPart part) {
    return model::CutDownTo(part, mesh.settings);
  }
  static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
};

// The ranges of addresses that MeshNetworks names, as they are written, sorted.
struct InternalRanges {
  static constexpr bool kConcernsAll = true;
  static std::vector<std::string> Answer(const MeshSnapshot& mesh);
  static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
};

struct Networks {
  static constexpr bool kConcernsAll = true;
  static const std::shared_ptr<const NetworkIndex>& Answer(const MeshSnapshot& mesh) { return mesh.networks; }
  static constexpr auto Difference = Whole<&MeshSnapshot::networks>;
};

// See model::KeySource.
struct KeySet {
  static model::KeySetPtr Answer(const MeshSnapshot& mesh, const Interned& uri, const Interned& issuer);
  static constexpr auto Difference = ValuesOf<&MeshSnapshot::key_sets>;
};

struct TrustBundle {
  static const model::TrustBundlePtr& Answer(const MeshSnapshot& mesh) { return mesh.trust_bundle; }
  static constexpr auto Difference = Whole<&MeshSnapshot::trust_bundle>;
};

// Null: there is no API server to ask.
struct SecretReviewer {
  static model::SecretReviewerPtr Answer(const MeshSnapshot& mesh) {
    return mesh.secret_readers == nullptr ? nullptr : mesh.secret_readers->reviewer;
  }
  static constexpr auto Difference = OfAnswer<SecretReviewer>;
};

// See model::ClusterAccount.
struct SecretAccess {
  static model::SecretAccess Answer(const MeshSnapshot& mesh, const Interned& cluster,
                                    const Interned& account);
  static constexpr auto Difference = ValuesOf<&MeshSnapshot::secret_readers, &model::SecretReaders::verdicts>;
};

using OfSettings =
    Rows<Settings, SettingsPart, InternalRanges, Networks, KeySet, TrustBundle, SecretReviewer, SecretAccess>;

}  // namespace fairlead::mesh::questions

#endif  // FAIRLEAD_MESH_VIEW_SETTINGS_QUESTIONS_H_
