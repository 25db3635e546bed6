#ifndef FAIRLEAD_SIMULATE_PATH_NORMALIZATION_H_
#define FAIRLEAD_SIMULATE_PATH_NORMALIZATION_H_

#include <string>
#include <string_view>

namespace fairlead::simulate {

// A path as HttpConnectionManager.normalize_path leaves it (RFC 3986, 6.2.2, as browsers do it): "." and ".."
// segments resolved, "\" turned into "/", percent-encoded letters, digits, "-", ".", "_" and "~" decoded. The
// query stays as it is.
std::string NormalizedPath(std::string_view path);

// Several "/" in a row become one (merge_slashes); the query stays as it is.
std::string WithSlashesMerged(std::string_view path);

// Whether the path, query apart, has an escaped "/" or "\" (%2F, %5C).
bool HasEscapedSlashes(std::string_view path);
// The same decoded.
std::string WithSlashesUnescaped(std::string_view path);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_PATH_NORMALIZATION_H_
