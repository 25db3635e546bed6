#ifndef FAIRLEAD_VALIDATE_VALIDATE_COMMAND_H_
#define FAIRLEAD_VALIDATE_VALIDATE_COMMAND_H_

#include <string>
#include <vector>

namespace fairlead::validate {

// `fairlead validate FILE… [-o text|json|github|sarif] [--strict]`: says of every object in the files, in the
// folders' manifests, or on the standard input ("-"), whether Istio would admit it. Gives the exit status: 0
// all are valid, 1 some are not, 2 a wrong call.
int RunValidate(const std::vector<std::string>& arguments);

}  // namespace fairlead::validate

#endif  // FAIRLEAD_VALIDATE_VALIDATE_COMMAND_H_
