#ifndef FAIRLEAD_BASE_UTF8_H_
#define FAIRLEAD_BASE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead {

// The text as far as it fits into `most` bytes, cut between characters; bytes that are no UTF-8 become '?'.
std::string CleanUtf8(std::string_view text, size_t most);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_UTF8_H_
