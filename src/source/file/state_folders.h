#ifndef FAIRLEAD_SOURCE_FILE_STATE_FOLDERS_H_
#define FAIRLEAD_SOURCE_FILE_STATE_FOLDERS_H_

#include <chrono>
#include <string>

// The sub-folders of --stateDir, one for each folder of manifests (see LastGood).
namespace fairlead::source {

// Without a start for this long a state may be abandoned.
inline constexpr std::chrono::hours kAbandonedAfter{24 * 7};

// The name of the sub-folder for a folder of manifests. REQUIRES: an absolute path.
std::string StateFolderOf(const std::string& folder);

// Writes into a sub-folder which folder of manifests it is for, and that it is in use now.
void NoteFolder(const std::string& state, const std::string& folder);

// Removes the sub-folders of `states`, but for `own`, that are nobody's any more: the folder of manifests is
// gone, nothing was written for `age`, no process has it open, this user owns it, and it holds nothing but
// what a LastGood writes. One whose folder of manifests is not known, since nothing was ever kept, counts as
// gone. Each is named in the log.
void RemoveAbandonedStates(const std::string& states, const std::string& own, std::chrono::seconds age);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_STATE_FOLDERS_H_
