#include "base/executor.h"

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include <utility>

#include "base/thread.h"

namespace fairlead {

Executor::Executor(std::string name, size_t threads, int niceness) {
  name.resize(std::min<size_t>(name.size(), 15));  // what the kernel keeps of a thread's name
  for (size_t i = 0; i < threads; ++i) {
    threads_.push_back(RequireThread([this, name, niceness] {
      pthread_setname_np(pthread_self(), name.c_str());
      // Linux has it of each thread apart, whatever POSIX says. setpriority(2), NOTES
      if (niceness > 0) setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + niceness);
      Run();
    }));
  }
}

Executor::~Executor() { Stop(); }

void Executor::Submit(Urgency urgency, std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    queues_[static_cast<size_t>(urgency)].push_back(std::move(task));
  }
  ready_.Post();
}

std::chrono::nanoseconds Executor::CpuTime() {
  std::lock_guard lock(mutex_);
  std::chrono::nanoseconds sum{0};
  if (stopping_) return sum;
  for (std::thread& thread : threads_) {
    clockid_t clock{};
    timespec time{};
    if (pthread_getcpuclockid(thread.native_handle(), &clock) == 0 && clock_gettime(clock, &time) == 0)
      sum += std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
  return sum;
}

std::function<void()> Executor::Take() {
  ++taken_;
  const Urgency turn = taken_ % 16 == 0  ? Urgency::kLate
                       : taken_ % 4 == 0 ? Urgency::kPatient
                                         : Urgency::kUrgent;
  auto* queue = &queues_[static_cast<size_t>(turn)];
  for (size_t next = 0; queue->empty(); ++next) queue = &queues_[next];
  std::function<void()> task = std::move(queue->front());
  queue->pop_front();
  return task;
}

void Executor::Run() {
  for (;;) {
    ready_.Wait();
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    std::function<void()> task = Take();
    lock.unlock();
    task();
  }
}

void Executor::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (size_t i = 0; i < threads_.size(); ++i) ready_.Post();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  std::lock_guard lock(mutex_);
  for (auto& queue : queues_) queue.clear();
}

}  // namespace fairlead
