#ifndef FAIRLEAD_APP_TOKEN_COMMAND_H_
#define FAIRLEAD_APP_TOKEN_COMMAND_H_

#include <string>
#include <vector>

namespace fairlead::app {

// `fairlead token NAMESPACE/ACCOUNT`: prints a token by which an agent proves which service account it is. A
// `fairlead discovery` of the same state folder believes it. Exit status: 0, 1 where the key cannot be had, 2
// for a wrong call.
int RunToken(const std::vector<std::string>& arguments);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_TOKEN_COMMAND_H_
