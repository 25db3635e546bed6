#ifndef FAIRLEAD_INJECTION_INJECT_COMMAND_H_
#define FAIRLEAD_INJECTION_INJECT_COMMAND_H_

#include <string>
#include <vector>

namespace fairlead::injection {

// `fairlead inject -f FILE --injectConfigFile … --valuesFile …`: adds sidecars to the workloads of a file, as
// an API server's webhook would. Gives the exit status: 0 done, 1 a file is wrong, 2 a wrong call.
int RunInject(const std::vector<std::string>& arguments);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_INJECT_COMMAND_H_
