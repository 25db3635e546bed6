#include "push/stream/stream_share.h"

#include <ctime>

namespace fairlead::push {
namespace {

// A request of more bytes waits for smaller ones of others, and is never handled by a loop.
constexpr size_t kLargeRequest = 16 << 10, kMostAtOnce = 64 << 10;
// Of threads, in seconds, that a stream has without regard to others of its address.
constexpr double kOwnTime = 0.02;

}  // namespace

double StreamShare::ThreadTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

bool StreamShare::IsLarge(size_t request) const { return account_ != nullptr && request > kMostAtOnce; }

bool StreamShare::MayWait(size_t request) {
  if (account_ == nullptr) return true;
  large_ = request > kLargeRequest;
  return account_->Wait(request);
}

void StreamShare::NoteTaken() {
  large_ = false;
  if (account_ != nullptr) account_->NoteTaken();
}

void StreamShare::SetProxy(const model::Proxy& proxy) { own_ = model::MemoryOf(proxy); }

bool StreamShare::Holds(xds::Held held) {
  return account_ == nullptr || account_->Hold(own_ + held.own, std::move(held.names));
}

bool StreamShare::GivesWay(double* start) {
  if (account_ == nullptr) return false;
  const double now = ThreadTime(), spent = now - *start;
  *start = now;
  spent_ = spent_ + spent;
  account_->Spend(spent, Clock::now());
  return IsLate();
}

bool StreamShare::IsLate() const {
  if (account_ == nullptr) return false;
  return large_ || (spent_ > kOwnTime && account_->InDebt(Clock::now()));
}

}  // namespace fairlead::push
