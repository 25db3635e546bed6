#ifndef FAIRLEAD_AGENT_VARIABLE_VALUES_H_
#define FAIRLEAD_AGENT_VARIABLE_VALUES_H_

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "agent/options.h"

// How variables are read. Pure; InvalidArgument names the variable.
namespace fairlead::agent {

// The variable's text; an empty one is as if it were not set.
std::string ValueOf(const Environment& environment, std::string_view name, std::string_view fallback = "");
absl::Status ReadInt(std::string_view name, std::string_view text, int* out);
absl::Status ReadMilliseconds(std::string_view name, std::string_view text, std::chrono::milliseconds* out);
// Between 0 and 1.
absl::Status ReadRatio(std::string_view name, std::string_view text, double* out);
bool IsTrue(const Environment& environment, std::string_view name);

// The variables of certificates and proofs, once the control plane's address is known. Part of
// ReadSecurityVariables.
absl::Status ReadCertificateVariables(const Environment& environment, Options* options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_VARIABLE_VALUES_H_
