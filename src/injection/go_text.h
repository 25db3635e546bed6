#ifndef FAIRLEAD_INJECTION_GO_TEXT_H_
#define FAIRLEAD_INJECTION_GO_TEXT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

// How Go's libraries read and name values. The texts of a refusal are Istio's, which come from there.
namespace fairlead::injection {

// A JSON value as fmt's verb %v prints it: map[a:1 b:[x y]].
std::string GoValueText(const nlohmann::json& value);

// In double quotes, as strconv.Quote.
std::string GoQuote(std::string_view text);

// InvalidArgument with strconv's text.
absl::Status CheckGoBool(std::string_view text);
// strconv.ParseUint of decimals with so many bits; InvalidArgument with its text.
absl::Status CheckGoUnsigned(std::string_view text, int bits);
// strconv.Atoi; nothing where it would fail.
std::optional<int> ParseGoInt(std::string_view text);

// What encoding/json says of a text that is no JSON; OK where it is.
absl::Status CheckGoJson(std::string_view text);

// Several errors as one, as hashicorp's multierror prints them.
std::string GoErrorList(const std::vector<std::string>& errors);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_GO_TEXT_H_
