#ifndef FAIRLEAD_DEBUG_REDACTION_H_
#define FAIRLEAD_DEBUG_REDACTION_H_

#include <string>

#include "xds/types.h"

namespace fairlead::debug {

// A resource, a serialized Any, without what nobody may see: the private key of a secret, and the credentials
// that a Wasm module's image is pulled with. A secret that cannot be read is left out whole.
std::string Redacted(xds::TypeId type, const std::string& any);

}  // namespace fairlead::debug

#endif  // FAIRLEAD_DEBUG_REDACTION_H_
