#ifndef FAIRLEAD_BASE_ERRNO_TEXT_H_
#define FAIRLEAD_BASE_ERRNO_TEXT_H_

#include <cstring>
#include <string>

namespace fairlead {

// What the system says of an errno value: "No such file or directory". Thread-safe, as strerror need not be.
inline std::string ErrnoText(int error) {
  char buffer[256];
  return strerror_r(error, buffer, sizeof buffer);  // glibc's, which says where the text is
}

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_ERRNO_TEXT_H_
