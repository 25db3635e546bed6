#include "push/stream/pusher.h"

#include <pthread.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/thread.h"
#include "mesh/index/service_index.h"
#include "mesh/view/gateway_scopes.h"
#include "mesh/view/sidecar_scopes.h"
#include "push/stream/push_metrics.h"
#include "push/stream/shutdown.h"
#include "xds/body.h"

namespace fairlead::push {
namespace {

constexpr auto kHousekeeping = std::chrono::milliseconds(250);
constexpr auto kGrace = std::chrono::minutes(1);  // of tracks that are dropped, for who is about to look
constexpr int kTidyEvery = 4, kLookForQuietEvery = 20, kSweepEvery = 12;  // rounds of housekeeping
// So much that was freed goes back to the system at once.
constexpr size_t kReturnFrom = 8 << 20;

LogScope ads_log("ads");

}  // namespace

Pusher::Pusher(PusherOptions options, Generators generators, GeneratorVariants variants, ObjectTypes objects)
    : options_(std::move(options)),
      admission_(options_.max_streams_per_second),
      maker_(std::move(generators), std::move(variants), std::move(objects), options_.scope, options_.shadow),
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

std::vector<StreamPtr> Pusher::StreamsToCheck() const {
  std::vector<StreamPtr> streams;
  std::lock_guard lock(mutex_);
  for (const StreamPtr& stream : streams_) {
    if (stream->NeedsCheck()) streams.push_back(stream);
  }
  return streams;
}

Track* Pusher::FindTrack(std::string_view name) {
  std::lock_guard lock(mutex_);
  return FindTrackLocked(name);
}

// REQUIRES: mutex_ held.
Track* Pusher::FindTrackLocked(std::string_view name) {
  if (name == kLiveTrack) return &live_;
  const auto at = tracks_.find(name);
  return at == tracks_.end() ? nullptr : at->second.get();
}

void Pusher::Publish(mesh::SnapshotPtr snapshot, const Reasons& reasons, std::string_view name) {
  rest_.Disturb();
  Track* track = FindTrack(name);
  if (track == nullptr) {
    std::lock_guard lock(mutex_);
    track = tracks_.emplace(name, std::make_unique<Track>(std::string(name))).first->second.get();
  }
  if (snapshot->services != nullptr) unproven_->SetServices(snapshot->services->All().size());
  const Track::Published published = track->Publish(std::move(snapshot), reasons);
  const uint64_t number = published.now->reached.number;
  std::optional<std::vector<StreamPtr>> concerned;
  if (published.before != nullptr && !reasons.everything) {
    concerned = track->interests().ConcernedBy(*published.before->snapshot, *published.now->snapshot, number);
  } else {
    track->interests().ConcernAll(number);
  }
  const bool some = concerned && !options_.shadow;
  for (const StreamPtr& stream : some ? *concerned : Streams()) stream->OnPublished();
}

absl::Status Pusher::Move(uint64_t number, std::string_view name) {
  std::lock_guard lock(mutex_);  // so that the track is not dropped meanwhile
  Track* const track = FindTrackLocked(name);
  if (track == nullptr || track->number() == 0) {
    return absl::NotFoundError(StrCat("nothing was published on the track ", name));
  }
  for (const StreamPtr& stream : streams_) {
    if (stream->number() != number) continue;
    stream->Follow(track);
    return absl::OkStatus();
  }
  return absl::NotFoundError(StrCat("there is no stream ", number));
}

void Pusher::Assign(const model::Proxy& proxy, TrackPosition* position) {
  std::shared_ptr<const TrackRule> rule;
  {
    std::lock_guard lock(mutex_);
    rule = rule_;
  }
  if (rule == nullptr) return;
  const std::string name = (*rule)(proxy);
  std::lock_guard lock(mutex_);  // so that the track is not dropped meanwhile
  Track* const track = FindTrackLocked(name);
  position->Follow(track == nullptr || track->number() == 0 ? &live_ : track);
}

void Pusher::SetRule(TrackRule rule, bool all) {
  auto now = rule == nullptr ? nullptr : std::make_shared<const TrackRule>(std::move(rule));
  {
    std::lock_guard lock(mutex_);
    rule_ = now;
  }
  if (!all) return;
  for (const StreamPtr& stream : Streams()) {
    const model::ProxyPtr proxy = stream->proxy();
    if (proxy == nullptr) continue;
    const std::string name = now == nullptr ? "" : (*now)(*proxy);
    std::lock_guard lock(mutex_);
    Track* const track = FindTrackLocked(name);
    Track* const to = track == nullptr || track->number() == 0 ? &live_ : track;
    if (stream->following() != to) stream->Follow(to);
  }
}

absl::Status Pusher::Drop(std::string_view name, Followers followers) {
  std::lock_guard lock(mutex_);
  const auto at = tracks_.find(name);
  if (at == tracks_.end()) return absl::NotFoundError(StrCat("there is no track ", name, " to drop"));
  const Track* const track = at->second.get();
  for (const StreamPtr& stream : streams_) {
    if (!stream->Follows(track)) continue;
    if (followers == Followers::kForbidden)
      return absl::FailedPreconditionError(StrCat("a stream follows the track ", name));
    if (stream->following() == track) stream->Follow(&live_);
  }
  rest_.Disturb();
  dropped_.emplace_back(Clock::now(), std::move(at->second));
  tracks_.erase(at);
  return absl::OkStatus();
}

std::vector<TrackReport> Pusher::Tracks() const {
  std::lock_guard lock(mutex_);
  std::vector<TrackReport> reports;
  const auto add = [&](const Track& track) {
    TrackReport& report = reports.emplace_back();
    report.name = track.name();
    if (const TrackPublicationPtr newest = track.Newest(); newest != nullptr) {
      report.publications = newest->reached.number;
      report.snapshot = newest->snapshot;
      report.published_at = newest->published_at;
    }
    report.streams = static_cast<size_t>(
        std::count_if(streams_.begin(), streams_.end(),
                      [&track](const StreamPtr& stream) { return stream->Follows(&track); }));
  };
  add(live_);
  for (const auto& [name, track] : tracks_) add(*track);
  return reports;
}

// What shadow mode found is an internal error.
void Pusher::CountMismatches() {
  const uint64_t now = mesh::MismatchCount();
  const uint64_t before = mismatches_.exchange(now);
  if (now > before) Metrics().internal_errors.Add(static_cast<double>(now - before));
}

void Pusher::Disconnect(uint64_t number) {
  for (const StreamPtr& stream : Streams()) {
    if (stream->number() == number) stream->Close(absl::UnavailableError("an operator ends the stream"));
  }
}

void Pusher::SweepCaches(Clock::time_point now) {
  maker_.Sweep(now);
  for (const mesh::SnapshotPtr& snapshot : NewestOfTracks(now)) {
    if (snapshot->scopes == nullptr) continue;
    snapshot->scopes->Sweep(now);
    snapshot->gateway_scopes->Sweep(now);
  }
}

// Also lets go what was dropped a while ago.
std::vector<mesh::SnapshotPtr> Pusher::NewestOfTracks(Clock::time_point now) {
  std::vector<mesh::SnapshotPtr> all;
  const auto add = [&all](const Track& track) {
    if (const TrackPublicationPtr newest = track.Newest(); newest != nullptr) all.push_back(newest->snapshot);
  };
  add(live_);
  std::lock_guard lock(mutex_);
  for (const auto& [name, track] : tracks_) add(*track);
  std::erase_if(dropped_, [&](const auto& dropped) {
    const Track* const track = dropped.second.get();
    return now - dropped.first > kGrace &&
           std::none_of(streams_.begin(), streams_.end(),
                        [track](const StreamPtr& stream) { return stream->Follows(track); });
  });
  return all;
}

StreamPtr Pusher::Open(StreamOptions options) {
  rest_.Disturb();
  std::lock_guard lock(mutex_);
  auto stream = std::make_shared<Stream>(this, ++last_stream_, std::move(options));
  streams_.insert(stream);
  return stream;
}

void Pusher::Forget(const StreamPtr& stream) {
  rest_.Disturb();
  stream->ForgetInterests();
  for (AnswerObserver* observer : options_.observers) observer->OnClosed(stream->number());
  if (stream->observed_) options_.connections->OnDisconnected(stream->number());
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
  const TrackPublicationPtr newest = live_.Newest();
  return newest == nullptr ? nullptr : newest->snapshot;
}

std::optional<ProxyView> Pusher::ViewOf(const model::ProxyPtr& proxy,
                                        const mesh::ProxyScopePtr& previous) const {
  mesh::SnapshotPtr newest = Snapshot();
  if (newest == nullptr) return std::nullopt;
  rest_.Disturb();
  return maker_.ViewIn(std::move(newest), proxy, previous);
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
  rest_.Disturb();
  stop_.notify_one();
}

void Pusher::KeepHouse() {
  std::unique_lock lock(mutex_);
  Clock::time_point next_round = Clock::now() + kHousekeeping, worked = Clock::now();
  for (int round = 0; !stopping_;) {
    stop_.wait_until(lock, delayed_.empty() ? next_round : std::min(next_round, delayed_.front().first));
    const Clock::time_point now = Clock::now();
    const std::vector<StreamPtr> beginning = TakeBeginning(now);
    lock.unlock();
    for (const StreamPtr& stream : beginning) stream->Read();
    if (now >= next_round) {
      if (now - next_round > kHousekeeping) Excuse(now - next_round);
      KeepRound(now, ++round);
      next_round = now + kHousekeeping;
      if (rest_.TakeDisturbance() || !MayRest(now)) worked = now;
      if (now - worked >= options_.rest_after) {
        ReturnFreeMemory();
        rest_.Sleep();
        worked = Clock::now();
        next_round = worked + kHousekeeping;
      }
    }
    lock.lock();
  }
}

// The streams whose turn has come. REQUIRES: mutex_ held.
std::vector<StreamPtr> Pusher::TakeBeginning(Clock::time_point now) {
  std::vector<StreamPtr> beginning;
  for (; !delayed_.empty() && delayed_.front().first <= now; delayed_.pop_front())
    beginning.push_back(std::move(delayed_.front().second));
  return beginning;
}

void Pusher::KeepRound(Clock::time_point now, int round) {
  for (const StreamPtr& stream : StreamsToCheck()) stream->Check(now);
  if (round % kTidyEvery == 0) Tidy(round % kLookForQuietEvery == 0);
  if (round % kSweepEvery == 0) SweepCaches(now);
}

// Whether nothing is left that a later round would look at, unless somebody disturbs the rest before.
bool Pusher::MayRest(Clock::time_point now) {
  if (!StreamsToCheck().empty()) return false;
  std::lock_guard lock(mutex_);
  return delayed_.empty() && !stopping_ &&
         std::all_of(dropped_.begin(), dropped_.end(), [now](const auto& dropped) {
           return now - dropped.first > kGrace;  // one that a stream goes on following is let go with it
         });
}

void Pusher::Excuse(Clock::duration lost) {
  for (const StreamPtr& stream : Streams()) stream->Excuse(lost);
}

// Drops what nobody was sent lately. The memory goes back to the system once it is much; and where there was
// no work since the last look, as what the work before left behind is free.
void Pusher::Tidy(bool look_for_quiet) {
  dropped_bytes_ += xds::ResourceList::DropIdleBodies() + xds::DropIdleChanges();
  bool due = dropped_bytes_ >= kReturnFrom;
  if (look_for_quiet) {
    const uint64_t work = live_.number() + last_stream_.load();
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
  rest_.Disturb();
  stop_.notify_all();
  if (housekeeper_.joinable()) housekeeper_.join();
  const std::vector<StreamPtr> streams = Streams();
  if (!streams.empty()) ads_log.Info("closing {} streams", streams.size());
  for (const StreamPtr& stream : streams) stream->Close(ShuttingDown());
  executor_.Stop();
}

}  // namespace fairlead::push
