#ifndef FAIRLEAD_CNI_CONFLIST_H_
#define FAIRLEAD_CNI_CONFLIST_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace fairlead::cni {

// Network configurations as container runtimes read them: a list of plugins (.conflist), or one (.conf). Pure
// functions. InvalidArgument says why a text is neither.

// The text with a plugin at its end, in place of an earlier one of its type; one plugin becomes a list.
absl::StatusOr<std::string> WithPlugin(std::string_view text, const nlohmann::ordered_json& plugin);

// The text without plugins of a type.
absl::StatusOr<std::string> WithoutPlugin(std::string_view text, std::string_view type);

// Whether it has at least one plugin: runtimes take the first file that is one.
bool IsNetworkConfiguration(std::string_view text);

// A kubeconfig of one server and one token. `roots`: PEM; "": any certificate is believed.
std::string KubeconfigText(std::string_view server, std::string_view roots, std::string_view token);

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_CONFLIST_H_
