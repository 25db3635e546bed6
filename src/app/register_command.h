#ifndef FAIRLEAD_APP_REGISTER_COMMAND_H_
#define FAIRLEAD_APP_REGISTER_COMMAND_H_

#include <string>
#include <vector>

namespace fairlead::app {

// `fairlead register GROUP`: announces a workload without an Envoy to the control plane until SIGTERM or
// SIGINT. Exit status: 0 after such a signal, 1 where another process does it already, 2 for a wrong call.
int RunRegister(const std::vector<std::string>& arguments);

// `fairlead deregister GROUP`: ends such a process, and waits for its end. Exit status: 0, 1 where none runs
// or it does not end, 2 for a wrong call.
int RunDeregister(const std::vector<std::string>& arguments);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_REGISTER_COMMAND_H_
