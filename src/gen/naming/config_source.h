#ifndef FAIRLEAD_GEN_NAMING_CONFIG_SOURCE_H_
#define FAIRLEAD_GEN_NAMING_CONFIG_SOURCE_H_

#include "model/config_source.h"

namespace envoy::config::core::v3 {
class ConfigSource;
}

namespace fairlead::gen {

// Fills in the source as Envoy reads it, v3. What says how long to wait stays as it is: see proto::SetAds.
void SetConfigSource(const model::ConfigSource& source, envoy::config::core::v3::ConfigSource* out);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_NAMING_CONFIG_SOURCE_H_
