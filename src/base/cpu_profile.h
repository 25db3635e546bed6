#ifndef FAIRLEAD_BASE_CPU_PROFILE_H_
#define FAIRLEAD_BASE_CPU_PROFILE_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"

namespace fairlead {

// Where the process spends its time: samples the stacks of its threads for so long, 100 times a second of CPU
// time, and returns them in the format that `pprof` and `go tool pprof` read together with the binary.
// FailedPrecondition while another one is made. Blocks the calling thread.
// Source: gperftools, docs/cpuprofile-fileformat.html.
absl::StatusOr<std::string> ProfileCpu(std::chrono::milliseconds duration);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_CPU_PROFILE_H_
