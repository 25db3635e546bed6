#ifndef FAIRLEAD_BASE_EXCERPT_H_
#define FAIRLEAD_BASE_EXCERPT_H_

#include <cstddef>
#include <string>
#include <string_view>

// Texts that clients and files choose, for logs and pages. Pure.
namespace fairlead {

// The text, cut between characters after `most` bytes: then "… (4000000 bytes)" follows. Bytes that are no
// UTF-8 become '?'.
std::string Excerpt(std::string_view text, size_t most = 1024);

// The text on one line, without an effect on terminals: control characters, line ends and characters that
// turn the direction of text become "\n", "\x1b" or "\u202e". Bytes that are no UTF-8 become '?'.
std::string OnOneLine(std::string_view text);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_EXCERPT_H_
