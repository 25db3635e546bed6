#ifndef FAIRLEAD_INJECTION_QUANTITY_H_
#define FAIRLEAD_INJECTION_QUANTITY_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fairlead::injection {

// The form in which Kubernetes writes a resource quantity: "1500m" for "1.5", "1Gi" for "1024Mi".
// InvalidArgument with Kubernetes' own text where it is none. Pure. Source: Kubernetes' resource.Quantity;
// numbers of more than 18 digits stay as they are written.
absl::StatusOr<std::string> CanonicalQuantity(std::string_view text);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_QUANTITY_H_
