#ifndef FAIRLEAD_APP_LAST_GOOD_STATE_H_
#define FAIRLEAD_APP_LAST_GOOD_STATE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "app/discovery_options.h"
#include "source/file/last_good.h"

namespace fairlead::app {

// Opens the folder of --stateDir for this --configDir: a sub-folder for each, so that servers of several do
// not meet. Sub-folders of folders that have been gone for long are removed (source::RemoveAbandonedStates).
// Null where there is none to be; an error where a folder that was asked for cannot be made.
absl::StatusOr<std::unique_ptr<source::LastGood>> OpenState(const DiscoveryOptions& options);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_LAST_GOOD_STATE_H_
