#ifndef FAIRLEAD_APP_VALIDATE_COMMAND_H_
#define FAIRLEAD_APP_VALIDATE_COMMAND_H_

#include <string>
#include <vector>

namespace fairlead::app {

// `fairlead validate -f FILE… [-o json]`: says of every object in the files, in the folders' manifests, or on
// the standard input ("-"), whether Istio would admit it. Gives the exit status: 0 all are valid, 1 some are
// not, 2 a wrong call.
int RunValidate(const std::vector<std::string>& arguments);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_VALIDATE_COMMAND_H_
