#ifndef FAIRLEAD_APP_STATE_FOLDER_H_
#define FAIRLEAD_APP_STATE_FOLDER_H_

#include <functional>
#include <string>

#include "app/discovery_options.h"

// Where a control plane keeps what outlives it, wherever it is started: a folder with sub-folders.
namespace fairlead::app {

// The default of --stateDir, an absolute path: STATE_DIRECTORY, which systemd sets; of the superuser
// /var/lib/fairlead; else XDG_STATE_HOME/fairlead or ~/.local/state/fairlead. `get` gives null for a variable
// that is not set.
std::string DefaultStateFolder(const std::function<const char*(const char*)>& get);

// The folder of the root of our own: FAIRLEAD_CA_DIR, else "ca" in the state folder. While only
// ./var/lib/fairlead/ca has a root, where earlier versions kept it, that folder, with a warning in the log.
std::string AuthorityFolder(const DiscoveryOptions& options);

// The folder of the keys of tokens that are made here; "" without a state folder.
std::string TokenFolder(const std::string& state_folder);

// The file with the roots that agents believe the control plane by, for everybody to read; "" without a state
// folder.
std::string RootFile(const DiscoveryOptions& options);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_STATE_FOLDER_H_
