#ifndef FAIRLEAD_CONFIG_READ_STORED_OBJECT_H_
#define FAIRLEAD_CONFIG_READ_STORED_OBJECT_H_

#include <optional>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "config/lost_policy.h"
#include "config/object.h"
#include "config/tree.h"

namespace fairlead::config {

// One object as an API server hands it out, read.
struct StoredObject {
  std::optional<ObjectKey> key;  // nothing where the document has no name
  ConfigPtr object;  // null where it cannot be read: whoever has an earlier version goes on with it
  std::optional<LostPolicy> lost_policy;  // of a policy that cannot be read
  std::vector<Diagnostic> diagnostics;    // each names the object; of Secrets nothing is quoted
};

// `api_version`: the group and version that was asked for. `cluster`: see ObjectMeta. Unknown fields are
// passed over. Thread-safe.
StoredObject ReadStored(const KindInfo& kind, std::string_view api_version, Node document,
                        const Interned& cluster = {});

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_STORED_OBJECT_H_
