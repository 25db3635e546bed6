#ifndef FAIRLEAD_INJECTION_YAML_TEXT_H_
#define FAIRLEAD_INJECTION_YAML_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace fairlead::injection {

// A value as YAML in blocks, with a final line end. Texts that a reader could take for something else are
// quoted; texts of several lines are literal blocks. Pure.
std::string YamlText(const nlohmann::json& value);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_YAML_TEXT_H_
