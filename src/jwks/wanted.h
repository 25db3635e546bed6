#ifndef FAIRLEAD_JWKS_WANTED_H_
#define FAIRLEAD_JWKS_WANTED_H_

#include "jwks/schedule.h"
#include "mesh/snapshot.h"

namespace fairlead::jwks {

// What the RequestAuthentications of a mesh want to be fetched: the keys of rules that bring none. Of several
// rules for one source the longest timeout counts, 5 s where none is given, and 30 s at most. Not those that
// proxies fetch themselves (Features::key_fetch). Pure.
Wanted WantedKeySets(const mesh::MeshSnapshot& snapshot);

}  // namespace fairlead::jwks

#endif  // FAIRLEAD_JWKS_WANTED_H_
