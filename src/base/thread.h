#ifndef FAIRLEAD_BASE_THREAD_H_
#define FAIRLEAD_BASE_THREAD_H_

#include <functional>
#include <thread>

#include "absl/status/statusor.h"

// The one place where threads are made: the library throws where the system has none to give.
namespace fairlead {

// ResourceExhausted where no thread can be had; the message says why.
absl::StatusOr<std::thread> StartThread(std::function<void()> run);

// For threads without which the process cannot work, made at its start: where none can be had, the process
// ends with a message.
std::thread RequireThread(std::function<void()> run);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_THREAD_H_
