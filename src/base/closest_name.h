#ifndef FAIRLEAD_BASE_CLOSEST_NAME_H_
#define FAIRLEAD_BASE_CLOSEST_NAME_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

// What two letters in the wrong order count.
enum class Swap : uint8_t { kOneEdit, kTwoEdits };
// How many edits lead from one text to the other: a letter too many, too few or another. Case does not count.
// Source: "optimal string alignment", https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance
size_t EditDistance(std::string_view left, std::string_view right, Swap swap);

// The name that was probably meant by one that is not known; "" where none is much like it. Case does not
// count, a letter too many, too few, another or two in the wrong order count one each, and a third of the
// letters may be wrong.
std::string ClosestName(std::string_view name, const std::vector<std::string>& known);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_CLOSEST_NAME_H_
