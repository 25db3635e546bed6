#ifndef FAIRLEAD_JWKS_WANTED_H_
#define FAIRLEAD_JWKS_WANTED_H_

#include "jwks/schedule.h"
#include "mesh/index/snapshot.h"

namespace fairlead::jwks {

// The key sets to fetch for a mesh's RequestAuthentications: the keys of rules without any. The longest
// timeout of a source's rules counts, 5 s by default, and 30 s at most. Not those that proxies fetch
// themselves (Features::key_fetch). Pure.
Wanted WantedKeySets(const mesh::MeshSnapshot& snapshot);

}  // namespace fairlead::jwks

#endif  // FAIRLEAD_JWKS_WANTED_H_
