#include "base/process_metrics.h"

#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/metrics.h"

namespace fairlead::metrics {
namespace {

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void UpdateCpu() {
  static std::mutex mutex;
  static Counter& cpu =
      GetCounter("process_cpu_seconds_total", "Seconds of CPU time that the process took, user and system.");
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::lock_guard lock(mutex);
  const double now = SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime);
  cpu.Add(std::max(0.0, now - cpu.Value()));
}

void UpdateMemory() {
  static Gauge& virtual_size =
      GetGauge("process_virtual_memory_bytes", "Size of the process's address space.");
  static Gauge& resident = GetGauge("process_resident_memory_bytes", "Memory that the process has in use.");
  std::ifstream statm("/proc/self/statm");
  double pages = 0, resident_pages = 0;
  if (!(statm >> pages >> resident_pages)) return;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  virtual_size.Set(pages * page);
  resident.Set(resident_pages * page);
}

// glibc's own count.
void UpdateAllocator() {
  static Gauge& allocated = GetGauge("fairlead_allocator_allocated_bytes", "Memory that objects have.");
  static Gauge& free = GetGauge("fairlead_allocator_free_bytes", "Memory that is kept for objects to come.");
  static Gauge& mapped = GetGauge("fairlead_allocator_mapped_bytes", "Memory that was had from the system.");
  const struct mallinfo2 info = mallinfo2();
  allocated.Set(static_cast<double>(info.uordblks + info.hblkhd));
  free.Set(static_cast<double>(info.fordblks));
  mapped.Set(static_cast<double>(info.arena + info.hblkhd));
}

void UpdateThreads() {
  static Gauge& threads = GetGauge("fairlead_threads", "Threads of the process.");
  if (const auto tasks = ListFolder("/proc/self/task"); tasks.ok())
    threads.Set(static_cast<double>(tasks->size()));
}

void UpdateFiles() {
  static Gauge& open = GetGauge("process_open_fds", "Files that are open, connections included.");
  static Gauge& most = GetGauge("process_max_fds", "Files that may be open at a time.");
  if (const auto files = ListFolder("/proc/self/fd"); files.ok())
    open.Set(static_cast<double>(files->size()));
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) most.Set(static_cast<double>(limit.rlim_cur));
}

// Seconds since 1970. The kernel counts a process's start in ticks since the machine's own.
void SetStartTime() {
  static Gauge& start =
      GetGauge("process_start_time_seconds", "When the process began, in seconds since 1970.");
  if (start.Value() != 0) return;
  std::ifstream stat("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
  // The second field is a name in parentheses, which may hold anything; the start is the 22nd.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return;
  std::istringstream fields(text.substr(name_end + 1));
  constexpr int kFieldsBetween = 19;
  std::string field;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> field;
  double ticks = 0;
  timespec since_boot{};
  if (!(fields >> ticks) || clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return;
  const double age = static_cast<double>(since_boot.tv_sec) + static_cast<double>(since_boot.tv_nsec) / 1e9 -
                     ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  start.Set(now.count() - age);
}

// Those of others, which are called with the rest.
struct Updates {
  std::mutex mutex;
  std::vector<void (*)()> all;  // guarded by mutex

  static Updates& Get() {
    static auto* updates = new Updates;
    return *updates;
  }
};

}  // namespace

void UpdateBeforeShown(void (*update)()) {
  Updates& updates = Updates::Get();
  std::lock_guard lock(updates.mutex);
  updates.all.push_back(update);
}

void UpdateProcessMetrics() {
  {
    Updates& updates = Updates::Get();
    std::lock_guard lock(updates.mutex);
    for (void (*const update)() : updates.all) update();
  }
  UpdateCpu();
  UpdateMemory();
  UpdateAllocator();
  UpdateThreads();
  UpdateFiles();
  SetStartTime();
}

}  // namespace fairlead::metrics
