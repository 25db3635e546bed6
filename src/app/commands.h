#ifndef FAIRLEAD_APP_COMMANDS_H_
#define FAIRLEAD_APP_COMMANDS_H_

namespace fairlead::app {

// The whole program: chooses the command by its name and runs it. Gives the process's exit status.
int RunCommand(int argc, char** argv);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_COMMANDS_H_
