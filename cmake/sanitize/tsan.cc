// Linked into every program of the tsan preset. Debian's abseil and gRPC are not instrumented: the thread
// sanitizer sees neither how absl::Mutex orders the threads that take it nor the atomics of gRPC's queues,
// and would take what our callbacks do, one after the other, for races. Here it is told.

#include <dlfcn.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/support/sync.h>
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace {

// The function of the shared library that the one here stands before.
template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// A slice's owner and how it is given back, by whichever thread lets go of the slice last.
struct SliceOwner {
  void (*destroy)(void*);
  void* owner;

  static void Destroy(void* self) {
    auto* const held = static_cast<SliceOwner*>(self);
    __tsan_acquire(held);
    held->destroy(held->owner);
    delete held;
  }
};

}  // namespace

// What runs inside a library that is not instrumented is not looked at: its own order is unknown here. A
// server ends at its first race, so that no test of it passes.
extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1:halt_on_error=1"; }

#define FAIRLEAD_STRING(text) #text
#define FAIRLEAD_TEXT(name) FAIRLEAD_STRING(name)
#define FAIRLEAD_ABSL "_ZN4absl7" FAIRLEAD_TEXT(ABSL_OPTION_INLINE_NAMESPACE_NAME)

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  static auto* const next = Next<void(Mutex*)>(FAIRLEAD_ABSL "5Mutex4LockEv");
  next(this);
  __tsan_acquire(this);
}

bool Mutex::TryLock() {
  static auto* const next = Next<bool(Mutex*)>(FAIRLEAD_ABSL "5Mutex7TryLockEv");
  const bool locked = next(this);
  if (locked) __tsan_acquire(this);
  return locked;
}

void Mutex::Unlock() {
  static auto* const next = Next<void(Mutex*)>(FAIRLEAD_ABSL "5Mutex6UnlockEv");
  __tsan_release(this);
  next(this);
}

void CondVar::Wait(Mutex* mutex) {
  static auto* const next = Next<void(CondVar*, Mutex*)>(FAIRLEAD_ABSL "7CondVar4WaitEPNS0_5MutexE");
  __tsan_release(mutex);
  next(this, mutex);
  __tsan_acquire(mutex);
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  static auto* const next = Next<bool(CondVar*, Mutex*, Duration)>(
      FAIRLEAD_ABSL "7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE");
  __tsan_release(mutex);
  const bool timed_out = next(this, mutex, timeout);
  __tsan_acquire(mutex);
  return timed_out;
}

ABSL_NAMESPACE_END
}  // namespace absl

// An operation begins before it ends: gRPC's promise, by the operation's tag.
extern "C" grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag,
                                                 void* reserved) {
  static auto* const next = Next<decltype(grpc_call_start_batch)>("grpc_call_start_batch");
  __tsan_release(tag);
  return next(call, ops, count, tag, reserved);
}

extern "C" grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline,
                                                 void* reserved) {
  static auto* const next = Next<decltype(grpc_completion_queue_next)>("grpc_completion_queue_next");
  const grpc_event event = next(queue, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE) __tsan_acquire(event.tag);
  return event;
}

extern "C" grpc_slice grpc_slice_new_with_user_data(void* bytes, size_t size, void (*destroy)(void*),
                                                    void* owner) {
  static auto* const next = Next<decltype(grpc_slice_new_with_user_data)>("grpc_slice_new_with_user_data");
  auto* const held = new SliceOwner{destroy, owner};
  __tsan_release(held);
  return next(bytes, size, SliceOwner::Destroy, held);
}

extern "C" int gpr_unref(gpr_refcount* count) {
  static auto* const next = Next<decltype(gpr_unref)>("gpr_unref");
  __tsan_release(count);
  const int last = next(count);
  if (last != 0) __tsan_acquire(count);
  return last;
}
