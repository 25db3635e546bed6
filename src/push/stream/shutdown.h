#ifndef FAIRLEAD_PUSH_STREAM_SHUTDOWN_H_
#define FAIRLEAD_PUSH_STREAM_SHUTDOWN_H_

#include "absl/status/status.h"

namespace fairlead::push {

// What streams end with when the server does, those too that begin after that.
inline absl::Status ShuttingDown() { return absl::UnavailableError("the server is shutting down"); }

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_SHUTDOWN_H_
