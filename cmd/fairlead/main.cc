#include "app/commands.h"

int main(int argc, char** argv) { return fairlead::app::RunCommand(argc, argv); }
