#ifndef FAIRLEAD_MODEL_SETTINGS_PARTS_H_
#define FAIRLEAD_MODEL_SETTINGS_PARTS_H_

#include <span>
#include <string_view>

#include "model/settings.h"

namespace fairlead::model {

// The settings with their parts. What is as it was in `previous` (may be null) keeps its pointer: parts,
// MeshConfig, MeshNetworks, and the settings themselves where nothing differs.
SettingsPtr WithPrevious(Settings settings, const SettingsPtr& previous);

// The fields of MeshConfig that a part holds, as paths ("default_config.discovery_address").
std::span<const std::string_view> FieldsOf(SettingsPart part);
// The fields that are in no part: nothing reads them of a snapshot.
std::span<const std::string_view> UnreadFields();

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_SETTINGS_PARTS_H_
