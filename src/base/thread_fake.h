#ifndef FAIRLEAD_BASE_THREAD_FAKE_H_
#define FAIRLEAD_BASE_THREAD_FAKE_H_

#include <pthread.h>

#include <cstddef>

// For tests.
namespace fairlead {

// While it lives, the system has no thread to give: each would need a stack larger than any address space.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_attr_t attributes;
    pthread_getattr_default_np(&attributes);
    pthread_attr_getstacksize(&attributes, &size_);
    Set(size_t{1} << 60);
  }
  ~NoMoreThreads() { Set(size_); }

 private:
  static void Set(size_t size) {
    pthread_attr_t attributes;
    pthread_getattr_default_np(&attributes);
    pthread_attr_setstacksize(&attributes, size);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  size_t size_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_THREAD_FAKE_H_
