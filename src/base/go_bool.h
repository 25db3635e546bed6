#ifndef FAIRLEAD_BASE_GO_BOOL_H_
#define FAIRLEAD_BASE_GO_BOOL_H_

#include <optional>
#include <string_view>

namespace fairlead {

// As Go's strconv.ParseBool: 1, t, T, TRUE, true, True and their opposites; nothing for any other text.
std::optional<bool> ParseGoBool(std::string_view text);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_GO_BOOL_H_
