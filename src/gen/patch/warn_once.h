#ifndef FAIRLEAD_GEN_PATCH_WARN_ONCE_H_
#define FAIRLEAD_GEN_PATCH_WARN_ONCE_H_

#include <string>

namespace fairlead::gen::patch {

// Writes a warning to the log of scope "envoyfilter", unless it was written before: what is wrong with an
// object is found by every generator, and again whenever it is read. At most 2000 different ones are written.
// Thread-safe.
void WarnOnce(const std::string& line);

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_WARN_ONCE_H_
