#ifndef FAIRLEAD_SOURCE_SRV_SRV_ENTRIES_H_
#define FAIRLEAD_SOURCE_SRV_SRV_ENTRIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "source/platform/platform_view.h"
#include "source/srv/srv_options.h"

namespace fairlead::source {

// An address of a target of an SRV record.
struct SrvInstance {
  uint16_t priority = 0, weight = 0, port = 0;
  std::string target, address;
  friend auto operator<=>(const SrvInstance&, const SrvInstance&) = default;
};

// The ServiceEntries that stand for a name. The instances of the first priority count, or all of them; their
// order does not matter. Without any, none. Pure. Source: RFC 2782.
PlatformPart MakeSrvEntries(const SrvOptions& options, const SrvName& name,
                            std::vector<SrvInstance> instances);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_SRV_SRV_ENTRIES_H_
