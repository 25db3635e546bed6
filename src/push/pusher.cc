#include "push/pusher.h"

#include <pthread.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "push/push_metrics.h"
#include "push/shutdown.h"

namespace fairlead::push {
namespace {

constexpr auto kHousekeeping = std::chrono::milliseconds(250);
constexpr int kTidyEvery = 4, kLookForQuietEvery = 20;  // rounds of housekeeping
// So much that was freed goes back to the system at once.
constexpr size_t kReturnFrom = 8 << 20;
constexpr size_t kRememberedStarts = 256;

LogScope ads_log("ads");

}  // namespace

Pusher::Pusher(PusherOptions options, Generators generators, GeneratorVariants variants, ObjectTypes objects)
    : options_(std::move(options)),
      generators_(std::move(generators)),
      variants_(std::move(variants)),
      objects_(std::move(objects)),
      served_(ServedTypes(generators_)),
      admission_(options_.max_streams_per_second),
      executor_("push", options_.threads),
      housekeeper_(RequireThread([this] {
        pthread_setname_np(pthread_self(), "housekeeper");
        KeepHouse();
      })) {}

Pusher::~Pusher() { Stop(); }

std::vector<StreamPtr> Pusher::Streams() const {
  std::lock_guard lock(mutex_);
  return {streams_.begin(), streams_.end()};
}

void Pusher::Publish(mesh::SnapshotPtr snapshot, const Reasons& reasons) {
  const uint64_t number = newest_number_.load() + 1;  // only one thread publishes
  const EpochPtr last = Newest();
  PublicationLog log = last == nullptr ? PublicationLog() : last->log();
  for (size_t i = 0; i < kReasonCount; ++i) log.counts[i] += reasons.counts[i];
  if (reasons.everything) log.everything = number;
  auto epoch = std::make_shared<Epoch>(number, std::move(snapshot), log);
  EpochPtr old;  // freed outside the lock
  {
    std::lock_guard lock(mutex_);
    old = std::exchange(newest_, std::move(epoch));
    starts_.push_back(reasons.first);
    if (starts_.size() > kRememberedStarts) starts_.pop_front();
    newest_number_.store(number, std::memory_order_release);
  }
  for (const StreamPtr& stream : Streams()) stream->OnPublished();
  const auto sweep = [](const auto& generators) {
    for (const auto& generator : generators) {
      if (generator != nullptr) generator->Sweep();
    }
  };
  sweep(generators_);
  for (const auto& [name, generators] : variants_) sweep(generators);
  sweep(objects_.generators);
}

gen::Generator& Pusher::GeneratorFor(xds::TypeId type, const model::Proxy& proxy) const {
  const auto index = static_cast<size_t>(type);
  const auto variant = variants_.find(proxy.metadata.generator);
  const bool own = variant != variants_.end() && variant->second[index] != nullptr;
  return own ? *variant->second[index] : *generators_[index];
}

EpochPtr Pusher::Newest() const {
  std::lock_guard lock(mutex_);
  return newest_;
}

Reasons Pusher::ReasonsSince(const Epoch& epoch, EpochPtr* newest) const {
  std::lock_guard lock(mutex_);
  *newest = newest_;
  Reasons since;
  for (size_t i = 0; i < kReasonCount; ++i)
    since.counts[i] = newest_->log().counts[i] - epoch.log().counts[i];
  since.everything = newest_->log().everything > epoch.number();
  // Not in order: endpoints overtake what is waited for.
  const auto missed =
      static_cast<ptrdiff_t>(std::min<uint64_t>(newest_->number() - epoch.number(), starts_.size()));
  if (missed > 0) since.first = *std::min_element(starts_.end() - missed, starts_.end());
  return since;
}

StreamPtr Pusher::Open(StreamOptions options) {
  std::lock_guard lock(mutex_);
  auto stream = std::make_shared<Stream>(this, ++last_stream_, std::move(options));
  streams_.insert(stream);
  return stream;
}

void Pusher::Forget(const StreamPtr& stream) {
  std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

bool Pusher::Stopping() const {
  std::lock_guard lock(mutex_);
  return stopping_;
}

size_t Pusher::StreamCount() const {
  std::lock_guard lock(mutex_);
  return streams_.size();
}

size_t Pusher::BusyStreams() const {
  const std::vector<StreamPtr> streams = Streams();
  return static_cast<size_t>(
      std::count_if(streams.begin(), streams.end(), [](const StreamPtr& stream) { return stream->Busy(); }));
}

std::vector<StreamReport> Pusher::Report() const {
  std::vector<StreamReport> reports;
  for (const StreamPtr& stream : Streams()) {
    if (auto report = stream->Report()) reports.push_back(*std::move(report));
  }
  std::sort(reports.begin(), reports.end(), [](const StreamReport& a, const StreamReport& b) {
    return std::tie(a.connection, a.number) < std::tie(b.connection, b.number);
  });
  return reports;
}

mesh::SnapshotPtr Pusher::Snapshot() const {
  const EpochPtr newest = Newest();
  return newest == nullptr ? nullptr : newest->snapshot_ptr();
}

bool View::Serves(xds::TypeId type) const { return (pusher_->served_ & xds::MaskOf(type)) != 0; }

xds::ResourceSetPtr View::Make(xds::TypeId type, const xds::NameSetPtr& names) const {
  Made nothing;
  return epoch_->Make(pusher_->GeneratorFor(type, *scope->proxy), *scope, names, &nothing, /*shadow=*/false);
}

std::optional<View> Pusher::ViewOf(const model::ProxyPtr& proxy, const mesh::ProxyScopePtr& previous) const {
  const EpochPtr newest = Newest();
  if (newest == nullptr) return std::nullopt;
  return View(this, newest, options_.scope(newest->snapshot(), proxy, previous));
}

void Pusher::Admit(const StreamPtr& stream) {
  const Clock::time_point now = Clock::now();
  const auto start = admission_.Admit(now);
  if (!start) {
    return stream->Close(
        absl::ResourceExhaustedError("too many streams begin at once: try again, or another replica"));
  }
  if (*start <= now) return stream->Read();
  {
    std::lock_guard lock(mutex_);
    delayed_.emplace_back(*start, stream);
  }
  stop_.notify_one();
}

void Pusher::KeepHouse() {
  std::unique_lock lock(mutex_);
  Clock::time_point next_round = Clock::now() + kHousekeeping;
  for (int round = 0; !stopping_;) {
    stop_.wait_until(lock, delayed_.empty() ? next_round : std::min(next_round, delayed_.front().first));
    const Clock::time_point now = Clock::now();
    std::vector<StreamPtr> beginning;
    for (; !delayed_.empty() && delayed_.front().first <= now; delayed_.pop_front())
      beginning.push_back(std::move(delayed_.front().second));
    lock.unlock();
    for (const StreamPtr& stream : beginning) stream->Read();
    if (now >= next_round) {
      if (now - next_round > kHousekeeping) Excuse(now - next_round);
      for (const StreamPtr& stream : Streams()) {
        stream->CheckDeadline(now);
        stream->CheckQuiet(now);
      }
      if (++round % kTidyEvery == 0) Tidy(round % kLookForQuietEvery == 0);
      next_round = now + kHousekeeping;
    }
    lock.lock();
  }
}

void Pusher::Excuse(Clock::duration lost) {
  for (const StreamPtr& stream : Streams()) stream->Excuse(lost);
}

// Drops what nobody was sent lately. The memory goes back to the system once it is much; and where there was
// no work since the last look, as what the work before left behind is free.
void Pusher::Tidy(bool look_for_quiet) {
  dropped_bytes_ += xds::ResourceList::DropIdleBodies();
  bool due = dropped_bytes_ >= kReturnFrom;
  if (look_for_quiet) {
    const uint64_t work = newest_number_.load() + last_stream_.load();
    const bool quiet = std::exchange(seen_work_, work) == work;
    if (quiet && std::exchange(tidied_work_, work) != work) due = true;
  }
  if (!due) return;
  ReturnFreeMemory();
  dropped_bytes_ = 0;
}

void Pusher::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (housekeeper_.joinable()) housekeeper_.join();
  const std::vector<StreamPtr> streams = Streams();
  if (!streams.empty()) ads_log.Info("closing {} streams", streams.size());
  for (const StreamPtr& stream : streams) stream->Close(ShuttingDown());
  executor_.Stop();
}

}  // namespace fairlead::push
