#include "http2/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "http2/grpc_stream.h"

namespace fairlead::http2 {
namespace {

thread_local const Mailbox* current = nullptr;

template <typename T>
void MoveAll(std::vector<T>* from, std::vector<T>* to) {
  if (to->empty()) {
    to->swap(*from);
  } else {
    to->insert(to->end(), std::make_move_iterator(from->begin()), std::make_move_iterator(from->end()));
    from->clear();
  }
}

}  // namespace

Mailbox::Mailbox() : wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Mailbox::~Mailbox() {
  if (wake_ >= 0) close(wake_);
}

bool Mailbox::OnLoop() const { return current == this; }
void Mailbox::EnterLoop() { current = this; }
void Mailbox::LeaveLoop() { current = nullptr; }

void Mailbox::Post(Command command) {
  if (OnLoop()) {
    local_.commands.push_back(std::move(command));
    return;
  }
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    if (shut_) return;
    remote_.commands.push_back(std::move(command));
    wake = std::exchange(asleep_, false);
  }
  if (wake) Wake();
}

void Mailbox::PostTask(std::function<void()> task) {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    if (shut_) return;
    remote_.tasks.push_back(std::move(task));
    wake = std::exchange(asleep_, false);
  }
  if (wake) Wake();
}

void Mailbox::Wake() {
  const uint64_t one = 1;
  // It fails only where the counter is full, and then the loop wakes anyway.
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

void Mailbox::Take(Mail* mail) {
  mail->commands.swap(local_.commands);
  std::lock_guard lock(mutex_);
  asleep_ = false;
  MoveAll(&remote_.commands, &mail->commands);
  MoveAll(&remote_.tasks, &mail->tasks);
}

bool Mailbox::Sleep() {
  if (!local_.commands.empty()) return false;
  std::lock_guard lock(mutex_);
  asleep_ = remote_.commands.empty() && remote_.tasks.empty();
  return asleep_;
}

void Mailbox::Woken() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = read(wake_, &count, sizeof count);
}

void Mailbox::Shut() {
  Mail dropped;
  {
    std::lock_guard lock(mutex_);
    shut_ = true;
    std::swap(dropped, remote_);
  }
  local_.commands.clear();
}

}  // namespace fairlead::http2
