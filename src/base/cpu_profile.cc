#include "base/cpu_profile.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead {
namespace {

constexpr int kDepth = 64;
constexpr int kHandlerFrames = 2;  // the handler's own, and the one that the kernel makes for it
constexpr size_t kMostSamples = 1 << 15;
constexpr int kPeriodMicros = 10'000;

struct Sample {
  std::array<void*, kDepth> stack;
  std::atomic<int> depth{0};
};

// What a profile that is being made has; the handler is the only one that writes samples.
struct Samples {
  std::unique_ptr<Sample[]> all = std::make_unique<Sample[]>(kMostSamples);
  std::atomic<size_t> taken{0};
};

// Null while no profile is made. Samples are never freed: a handler may be late.
std::atomic<Samples*> current{nullptr};
std::atomic<bool> busy{false};

void TakeSample(int /*signal*/) {
  const int error = errno;
  if (Samples* samples = current.load()) {
    const size_t at = samples->taken.fetch_add(1);
    if (at < kMostSamples) {
      Sample& sample = samples->all[at];
      sample.depth.store(backtrace(sample.stack.data(), kDepth));
    }
  }
  errno = error;
}

absl::Status SetTimer(int micros) {
  const itimerval timer = {{0, micros}, {0, micros}};
  if (setitimer(ITIMER_PROF, &timer, nullptr) == 0) return absl::OkStatus();
  return absl::UnavailableError(StrCat("no timer for a profile: ", ErrnoText(errno)));
}

void AppendWord(uintptr_t word, std::string* out) {
  out->append(reinterpret_cast<const char*>(&word), sizeof word);
}

std::string Encode(const Samples& samples) {
  std::map<std::vector<uintptr_t>, uintptr_t> counts;
  for (size_t i = 0; i < std::min(samples.taken.load(), kMostSamples); ++i) {
    const Sample& sample = samples.all[i];
    std::vector<uintptr_t> stack;
    for (int frame = kHandlerFrames; frame < sample.depth.load(); ++frame)
      stack.push_back(reinterpret_cast<uintptr_t>(sample.stack[static_cast<size_t>(frame)]));
    if (!stack.empty()) ++counts[stack];
  }
  std::string out;
  for (const uintptr_t word : {0, 3, 0, kPeriodMicros, 0}) AppendWord(word, &out);  // the header
  for (const auto& [stack, count] : counts) {
    AppendWord(count, &out);
    AppendWord(stack.size(), &out);
    for (const uintptr_t address : stack) AppendWord(address, &out);
  }
  for (const uintptr_t word : {0, 1, 0}) AppendWord(word, &out);  // the trailer
  std::ifstream maps("/proc/self/maps");
  out.append(std::istreambuf_iterator<char>(maps), {});
  return out;
}

}  // namespace

absl::StatusOr<std::string> ProfileCpu(std::chrono::milliseconds duration) {
  if (busy.exchange(true)) return absl::FailedPreconditionError("another profile is being made");
  static Samples* samples = new Samples;  // one at a time, kept for the next
  samples->taken = 0;
  void* unused[1];
  backtrace(unused, 1);  // loads what it needs, which a handler must not
  struct sigaction action {};
  action.sa_handler = TakeSample;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);  // stays: a signal that comes late must not end the process
  current = samples;
  absl::Status status = SetTimer(kPeriodMicros);
  if (status.ok()) std::this_thread::sleep_for(duration);
  if (status.ok()) status = SetTimer(0);
  current = nullptr;
  std::string profile;
  if (status.ok()) profile = Encode(*samples);
  busy = false;
  if (!status.ok()) return status;
  return profile;
}

}  // namespace fairlead
