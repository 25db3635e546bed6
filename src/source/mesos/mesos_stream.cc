#include "source/mesos/mesos_stream.h"

#include <utility>

#include "base/strings.h"

namespace fairlead::source {
namespace {

constexpr size_t kMostWaiting = 100'000;  // events; beyond that a stream is given up

}  // namespace

MesosStream::MesosStream(size_t most_record)
    : records_(most_record, [this](std::string_view record) { return Add(record); }) {}

// An event that cannot be read leaves a gap: only a new stream shows all.
bool MesosStream::Add(std::string_view record) {
  auto event = ReadMesosEvent(json_, record);
  std::lock_guard lock(mutex_);
  Begin();
  if (event.ok() && news_.events.size() >= kMostWaiting)
    event = absl::ResourceExhaustedError("events come faster than they are taken");
  if (!event.ok()) {
    news_.broken = event.status();
    broken_ = true;
    return false;
  }
  if (event->type != MesosEvent::Type::kNothing) news_.events.push_back(*std::move(event));
  return true;
}

// Somebody may take what there is while more is added: only the adding sees where news begins.
void MesosStream::Begin() {
  if (!std::exchange(has_news_, true)) begins_ = true;
}

bool MesosStream::Read(std::string_view bytes) {
  {
    std::lock_guard lock(mutex_);
    if (broken_) return false;
    last_byte_ = Clock::now();
  }
  const absl::Status status = records_.Read(bytes);
  if (!status.ok()) {
    std::lock_guard lock(mutex_);
    Begin();
    news_.broken = status;
    broken_ = true;
  }
  return std::exchange(begins_, false);
}

MesosStream::News MesosStream::Take() {
  std::lock_guard lock(mutex_);
  has_news_ = false;
  News taken;
  std::swap(taken, news_);
  return taken;
}

Clock::time_point MesosStream::last_byte() const {
  std::lock_guard lock(mutex_);
  return last_byte_;
}

}  // namespace fairlead::source
