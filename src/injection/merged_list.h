#ifndef FAIRLEAD_INJECTION_MERGED_LIST_H_
#define FAIRLEAD_INJECTION_MERGED_LIST_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// The lists of a strategic merge patch. Elements are mappings told apart by a merge key, or, with the key "",
// plain values. Pure; errors are InvalidArgument with Kubernetes' texts.
namespace fairlead::injection {

inline constexpr char kPatchDirective[] = "$patch";

using MergeElements = std::function<absl::StatusOr<nlohmann::json>(nlohmann::json, nlohmann::json)>;

// The elements of both lists; those with the same key merged. The patch's keep the order of the patch, the
// others that of the original; of both sequences the original's goes first where the next of the patch is
// behind it in the original.
absl::StatusOr<nlohmann::json> MergeList(nlohmann::json original, nlohmann::json patch,
                                         const std::string& merge_key, const MergeElements& merge);

// A merged list, whose elements that `order` names go in its order, the others in that of `live`.
absl::StatusOr<nlohmann::json> InOrder(const nlohmann::json& merged, const nlohmann::json& order,
                                       const nlohmann::json& live, const std::string& merge_key);

// Whether the elements of a patch are in their declared order.
absl::Status CheckElementOrder(const nlohmann::json& patch, const nlohmann::json& order,
                               const std::string& merge_key);

nlohmann::json DeleteFromList(const nlohmann::json& original, const nlohmann::json& deleted);

absl::Status UnknownPatchType(const nlohmann::json& patch);
absl::Status ExpectedList(const nlohmann::json& value);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_MERGED_LIST_H_
