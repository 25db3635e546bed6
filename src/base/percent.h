#ifndef FAIRLEAD_BASE_PERCENT_H_
#define FAIRLEAD_BASE_PERCENT_H_

#include <string>
#include <string_view>

namespace fairlead {

// The text with each byte as %XX that is no ASCII letter, no digit and not among `plain`, which are RFC
// 3986's other unreserved characters by default. So it can be a segment of a path, or a part of a query.
std::string PercentEncoded(std::string_view text, std::string_view plain = "-._~");

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_PERCENT_H_
