#ifndef FAIRLEAD_APP_VERSION_H_
#define FAIRLEAD_APP_VERSION_H_

#include <string>
#include <string_view>

namespace fairlead::app {

inline constexpr std::string_view kVersion = "0.1.0";

// "fairlead 0.1.0"
inline std::string VersionText() { return "fairlead " + std::string(kVersion); }

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_VERSION_H_
