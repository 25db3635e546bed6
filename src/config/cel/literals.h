#ifndef FAIRLEAD_CONFIG_CEL_LITERALS_H_
#define FAIRLEAD_CONFIG_CEL_LITERALS_H_

#include <optional>
#include <string_view>

#include "config/cel/cel.h"

// Literals of the Common Expression Language, as its grammar has them
// (https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax).
namespace fairlead::config {

// Whether a number or a text begins here: "-1", ".5", "0x1F", "7u"; "'a'", "r'a'", "b'a'", "'''a'''".
bool BeginsCelNumber(std::string_view text);
bool BeginsCelText(std::string_view text);

// Cuts the literal off that begins here; nothing where it is not well formed or too large. Unsigned numbers
// are read as integers, bytes as strings.
std::optional<CelValue> TakeCelNumber(std::string_view* text);
std::optional<CelValue> TakeCelText(std::string_view* text);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_CEL_LITERALS_H_
