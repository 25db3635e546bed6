#include "base/log_writer.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

#include "base/thread.h"

namespace fairlead {
namespace {

constexpr size_t kMany = 1 << 16;  // bytes that are written without waiting for more
constexpr std::chrono::seconds kLatest{1};

void WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

struct LogWriter::State {
  State(int of, std::function<std::string(size_t)> say) : descriptor(of), notice(std::move(say)) {}
  ~State() {
    if (descriptor > STDERR_FILENO) close(descriptor);
  }

  const int descriptor;
  const std::function<std::string(size_t)> notice;
  std::mutex mutex;
  std::condition_variable work, idle;
  std::string waiting;   // guarded by mutex, as all that follows
  size_t lost = 0;       // since the last line that was not
  bool threaded = true;  // false: the system has no thread to give, and callers write
  bool writing = false, woken = false, ending = false;

  // One turn of the thread; false: the end. With the lock held, which is given up while it waits and writes.
  bool Turn(std::unique_lock<std::mutex>* lock) {
    const auto due = [this] { return woken || ending || waiting.size() >= kMany; };
    work.wait(*lock, [&] { return due() || !waiting.empty(); });  // for ever, as long as there is nothing
    work.wait_for(*lock, kLatest, due);
    woken = false;
    if (waiting.empty()) return !ending;
    const std::string bytes = std::exchange(waiting, {});
    writing = true;
    lock->unlock();
    WriteAll(descriptor, bytes);
    lock->lock();
    writing = false;
    if (waiting.empty()) idle.notify_all();
    return true;
  }
};

LogWriter::LogWriter(int descriptor, std::function<std::string(size_t lost)> notice)
    : state_(std::make_shared<State>(descriptor, std::move(notice))) {
  auto thread = StartThread([state = state_] {
    // The first line may come before anybody has said what signals mean: they are others' to take.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    pthread_setname_np(pthread_self(), "log");
    std::unique_lock lock(state->mutex);
    while (state->Turn(&lock)) {
    }
  });
  if (thread.ok()) thread->detach();
  std::lock_guard lock(state_->mutex);
  state_->threaded = thread.ok();
}

LogWriter::~LogWriter() {
  Drain(kLatest);
  std::lock_guard lock(state_->mutex);
  state_->ending = true;
  state_->work.notify_all();
}

bool LogWriter::Add(std::string_view line) {
  std::lock_guard lock(state_->mutex);
  if (!state_->threaded) {
    WriteAll(state_->descriptor, line);
    return true;
  }
  if (state_->waiting.size() + line.size() > kMost) {
    ++state_->lost;
    return false;
  }
  const bool first = state_->waiting.empty();
  if (state_->lost > 0) state_->waiting.append(state_->notice(std::exchange(state_->lost, 0)));
  state_->waiting.append(line);
  if (first || state_->waiting.size() >= kMany) state_->work.notify_one();
  return true;
}

void LogWriter::Wake() {
  std::lock_guard lock(state_->mutex);
  state_->woken = true;
  state_->work.notify_one();
}

bool LogWriter::Drain(std::chrono::milliseconds patience) {
  std::unique_lock lock(state_->mutex);
  state_->woken = true;
  state_->work.notify_one();
  return state_->idle.wait_for(lock, patience,
                               [this] { return state_->waiting.empty() && !state_->writing; });
}

}  // namespace fairlead
