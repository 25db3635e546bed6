#ifndef FAIRLEAD_CONFIG_BASE64_H_
#define FAIRLEAD_CONFIG_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::config {

// Base64, standard or URL-safe, padded or not, line ends passed over. Nothing where the text is none.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_BASE64_H_
