#ifndef FAIRLEAD_BASE_ERRNO_TEXT_H_
#define FAIRLEAD_BASE_ERRNO_TEXT_H_

#include <string>
#include <system_error>

namespace fairlead {

// What the system says of an errno value: "No such file or directory". Thread-safe, as strerror need not be.
inline std::string ErrnoText(int error) { return std::generic_category().message(error); }

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_ERRNO_TEXT_H_
