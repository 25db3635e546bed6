#ifndef FAIRLEAD_BASE_BASE64_H_
#define FAIRLEAD_BASE_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace fairlead {

// Base64, standard or URL-safe, padded or not, line ends passed over. Nothing where the text is none.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_BASE64_H_
