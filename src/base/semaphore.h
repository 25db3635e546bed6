#ifndef FAIRLEAD_BASE_SEMAPHORE_H_
#define FAIRLEAD_BASE_SEMAPHORE_H_

#include <semaphore.h>

#include <cerrno>

namespace fairlead {

// A count of what there is to take, which threads wait for. Where many threads hand work to others it stands
// in place of a condition variable: those of glibc before 2.41 lose a wake-up now and then under load
// (sourceware.org bug 25847), and what was handed over stays until the next. Thread-safe.
class Semaphore {
 public:
  Semaphore() { sem_init(&count_, /*pshared=*/0, 0); }
  ~Semaphore() { sem_destroy(&count_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void Post() { sem_post(&count_); }
  void Wait() {
    while (sem_wait(&count_) != 0 && errno == EINTR) {
    }
  }

 private:
  sem_t count_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_SEMAPHORE_H_
