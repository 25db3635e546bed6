#ifndef FAIRLEAD_APP_PUSH_OPTIONS_H_
#define FAIRLEAD_APP_PUSH_OPTIONS_H_

#include "app/environment.h"
#include "push/stream/pusher.h"

namespace fairlead::app {

// What the environment says of pushes: threads, times, limits, and who may be which node. The inspector and
// the control plane's name are left to the caller.
push::PusherOptions MakePushOptions(const Environment& environment);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_PUSH_OPTIONS_H_
