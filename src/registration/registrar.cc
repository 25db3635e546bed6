#include "registration/registrar.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/excerpt.h"
#include "base/log.h"
#include "base/strings.h"
#include "registration/amended_entries.h"
#include "registration/metrics.h"

namespace fairlead::registration {
namespace {

using config::Kind;

LogScope entry_log("registration");

constexpr size_t kLongestMessage = 1024;  // of a proxy about its health
constexpr int kMostConflicts = 10;
constexpr auto kDrainStep = std::chrono::milliseconds(10);

bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status) || absl::IsUnauthenticated(status);
}

Interned Text(const std::string& text) { return Interned(text); }

}  // namespace

Registrar::Registrar(Options options, EntryStore* store)
    : options_(std::move(options)), store_(store), random_(options_.seed) {
  Metrics();
  store_->Run([this] { Sweep(); }, Clock::now() + options_.sweep_every);
}

bool Registrar::OnConnected(uint64_t stream, const model::ProxyPtr& proxy, WallTime since, Ready ready) {
  const model::ProxyMetadata& metadata = proxy->metadata;
  const bool registers = options_.registers && !metadata.auto_register_group.empty();
  if (!registers && (!options_.takes_health || metadata.workload_entry.empty())) return false;
  store_->Run([this, registers, connection = ConnectedProxy{stream, proxy, since, registers},
               ready = std::move(ready)]() mutable {
    absl::StatusOr<EntryName> name =
        EntryName{connection.proxy->metadata.ns, connection.proxy->metadata.workload_entry};
    if (registers) name = RegisteredName(*connection.proxy);
    absl::Status status = name.ok() ? CheckName(*name) : name.status();
    if (!status.ok()) {
      Metrics().errors.Add();
      return ready(status);
    }
    Connect(*name, std::move(connection), std::move(ready));
  });
  return true;
}

void Registrar::OnHealth(uint64_t stream, bool healthy, std::string_view message) {
  if (!options_.takes_health) return;
  ReportedHealth health{healthy, Excerpt(message, kLongestMessage), std::chrono::system_clock::now()};
  store_->Run([this, stream, health = std::move(health)] { TakeHealth(stream, health); });
}

void Registrar::OnDisconnected(uint64_t stream) {
  ++departures_;
  store_->Run([this, stream] {
    Disconnect(stream);
    --departures_;
  });
}

void Registrar::OnChanges(std::span<const config::ObjectChange> changes) {
  std::vector<config::ObjectChange> ours;
  for (const config::ObjectChange& change : changes) {
    const bool kind = change.key.kind == Kind::kWorkloadEntry ||
                      (change.key.kind == Kind::kWorkloadGroup && change.object != nullptr);
    if (kind && change.key.cluster.empty()) ours.push_back(change);
  }
  if (ours.empty()) return;
  store_->Run([this, ours = std::move(ours)] {
    for (const config::ObjectChange& change : ours) {
      if (change.key.kind == Kind::kWorkloadEntry) {
        TakeEntry({change.key.ns.str(), change.key.name.str()}, change.object.get());
      } else {
        TakeGroup(change.key.ns.str(), change.key.name.str());
      }
    }
  });
}

void Registrar::Drain(Clock::duration most) {
  const auto until = Clock::now() + most;
  while (departures_ > 0 && Clock::now() < until) std::this_thread::sleep_for(kDrainStep);
}

// The entry of a proxy that does not register may be one that needs nothing.
bool Registrar::IsServedAtOnce(const EntryName& name, const ConnectedProxy& connection) const {
  if (connection.registers) return false;
  const config::ConfigPtr entry =
      options_.objects().Find(Kind::kWorkloadEntry, Text(name.ns), Text(name.name));
  return entry != nullptr &&
         (!store_->Keeps(*entry) || !entry->meta().annotations.contains(kHealthAnnotation));
}

void Registrar::Connect(const EntryName& name, ConnectedProxy connection, Ready ready) {
  if (IsServedAtOnce(name, connection)) return ready(absl::OkStatus());
  if (!places_.contains(name) && places_.size() >= options_.most_entries) {
    Metrics().errors.Add();
    return ready(absl::ResourceExhaustedError("too many workloads are registered here: try another replica"));
  }
  const uint64_t stream = connection.stream;
  names_.emplace(stream, name);
  Place& place = places_[name];
  place.live.emplace(stream, std::move(connection));
  place.waiting.emplace_back(stream, std::move(ready));
  place.connects = true;
  place.not_before = {};  // a retry for others must not keep this one waiting
  Metrics().connected.Add(1);
  Work(name);
}

void Registrar::Disconnect(uint64_t stream) {
  const auto known = names_.find(stream);
  if (known == names_.end()) return;
  const EntryName name = known->second;
  names_.erase(known);
  Place& place = places_.at(name);
  const auto it = place.live.find(stream);
  const WallTime connected = it->second.since;
  place.live.erase(it);
  Metrics().connected.Add(-1);
  std::erase_if(place.waiting, [stream](const auto& one) { return one.first == stream; });
  if (place.live.empty()) {
    if (!place.departure) ++departures_;
    place.departure = Departure{std::chrono::system_clock::now(), connected};
    place.connects = false;
    place.health.reset();
    place.not_before = {};
  }
  Work(name);
}

void Registrar::TakeHealth(uint64_t stream, ReportedHealth health) {
  const auto known = names_.find(stream);
  if (known == names_.end())
    return entry_log.Debug("stream {} reports the health of a workload without a WorkloadEntry", stream);
  places_.at(known->second).health = std::move(health);
  Work(known->second);
}

// An entry of the mesh came, changed or went (null).
void Registrar::TakeEntry(const EntryName& name, const config::ConfigObject* entry) {
  const auto it = places_.find(name);
  if (it != places_.end() && !it->second.live.empty()) {
    // Another replica took the proxy for gone, or somebody deleted the entry or made it anew: the proxy is
    // here.
    if (entry == nullptr || entry->meta().annotations.contains(kDisconnectedAnnotation) ||
        !entry->meta().annotations.contains(kControllerAnnotation)) {
      it->second.connects = true;
      Work(name);
    }
  }
  bool has_health = false;
  std::string mark;
  if (entry != nullptr) {
    const Entry read = EntryOf(*entry);
    has_health = read.Find(kHealthy) != nullptr;
    if (IsCleanedUp(read.annotations, has_health)) mark = MarkOf(read.annotations);
  }
  if (mark.empty()) {
    seen_.erase(name);
  } else if (Seen& seen = seen_[name]; seen.mark != mark) {
    seen = {std::move(mark), Clock::now()};
  }
}

// A group that is new: proxies that were here before have to be in it.
void Registrar::TakeGroup(const std::string& ns, const std::string& group) {
  std::vector<EntryName> due;
  const config::ObjectStore objects = options_.objects();
  for (auto it = places_.lower_bound({ns, ""}); it != places_.end() && it->first.ns == ns; ++it) {
    const ConnectedProxy* const newest = Newest(it->second);
    if (newest == nullptr || !newest->registers || newest->proxy->metadata.auto_register_group != group)
      continue;
    if (objects.Find(Kind::kWorkloadEntry, Text(ns), Text(it->first.name)) != nullptr) continue;
    it->second.connects = true;
    due.push_back(it->first);
  }
  for (const EntryName& name : due) Work(name);
}

const ConnectedProxy* Registrar::Newest(const Place& place) {
  const auto it = std::max_element(place.live.begin(), place.live.end(), [](const auto& a, const auto& b) {
    return a.second.since < b.second.since;
  });
  return it == place.live.end() ? nullptr : &it->second;
}

// What is due now; what a proxy that has come back makes untrue is dropped.
Registrar::Part Registrar::NextPart(Place* place) {
  if (!place->live.empty()) {
    Drop(place, Part::kDeparture);
    Drop(place, Part::kExpiry);
    if (place->connects) return Part::kConnection;
    return place->health && Clock::now() >= place->health_after ? Part::kHealth : Part::kNone;
  }
  if (place->departure) return Part::kDeparture;
  return place->expired.empty() ? Part::kNone : Part::kExpiry;
}

// Each stream that waits is decided about by itself: they may be of several identities.
void Registrar::Begin(Place* place, Part part) {
  place->running = true;
  if (part == Part::kConnection) {
    place->connects = false;
    place->deciding = place->waiting.empty() ? Newest(*place)->stream : place->waiting.front().first;
  }
  if (part == Part::kHealth) place->deciding_health = place->health->at;
}

void Registrar::Work(const EntryName& name) {
  const auto it = places_.find(name);
  if (it == places_.end() || it->second.running || Clock::now() < it->second.not_before) return;
  Place& place = it->second;
  const Part part = NextPart(&place);
  if (part == Part::kNone) {
    PlanHealth(name, &place);
    return ForgetIfIdle(name);
  }
  Begin(&place, part);
  store_->Read(name, [this, name, part](absl::StatusOr<std::optional<Entry>> read) {
    OnRead(name, part, std::move(read));
  });
}

void Registrar::PlanHealth(const EntryName& name, Place* place) {
  if (!place->health || std::exchange(place->health_planned, true)) return;
  store_->Run(
      [this, name] {
        if (const auto it = places_.find(name); it != places_.end()) it->second.health_planned = false;
        Work(name);
      },
      place->health_after);
}

void Registrar::WorkLater(const EntryName& name, Clock::time_point at) {
  store_->Run([this, name] { Work(name); }, at);
}

void Registrar::OnRead(const EntryName& name, Part part, absl::StatusOr<std::optional<Entry>> read) {
  Place& place = places_.at(name);
  if (!read.ok()) return Fail(name, part, read.status());
  // The proxy may have come or gone while the answer was under way.
  const bool holds =
      part == Part::kConnection ? place.live.contains(place.deciding) : NextPart(&place) == part;
  if (!holds) {
    place.connects = !place.live.empty();
    place.running = false;
    return Work(name);
  }
  const Entry* const entry = *read ? &**read : nullptr;
  const Step step = Decide(name, place, part, entry);
  if (step.kind == Step::Kind::kRefuse) return Finish(name, part, step.refusal);
  if (step.kind == Step::Kind::kNothing) return Finish(name, part, absl::OkStatus());
  Write(name, part, step, entry);
}

Step Registrar::Decide(const EntryName& name, const Place& place, Part part, const Entry* entry) const {
  switch (part) {
    case Part::kConnection: {
      const ConnectedProxy& connection = place.live.at(place.deciding);
      const std::string& group = connection.proxy->metadata.auto_register_group;
      return registration::OnConnected(
          entry,
          connection.registers ? options_.objects().Find(Kind::kWorkloadGroup, Text(name.ns), Text(group))
                               : nullptr,
          name, connection, options_.rules);
    }
    case Part::kDeparture:
      return registration::OnDeparted(entry, *place.departure, options_.rules);
    case Part::kHealth:
      return registration::OnHealth(entry, *place.health, options_.rules);
    case Part::kExpiry:
      return registration::OnExpired(entry, place.expired);
    case Part::kNone:
      break;
  }
  return {};
}

void Registrar::Write(const EntryName& name, Part part, const Step& step, const Entry* entry) {
  store_->Write(name, step, entry, [this, name, part, step](const absl::Status& status) {
    OnWritten(name, part, step, status);
  });
}

void Registrar::OnWritten(const EntryName& name, Part part, const Step& step, const absl::Status& status) {
  const bool gone = absl::IsNotFound(status) && step.kind != Step::Kind::kCreate;
  if (absl::IsAborted(status) || absl::IsAlreadyExists(status) || gone) return OnConflict(name, part, status);
  if (!status.ok()) return Fail(name, part, status);
  Note(name, step);
  if (part == Part::kHealth) places_.at(name).health_after = Clock::now() + options_.between_health;
  if (part == Part::kDeparture) {
    const std::string mark = MarkOf(step.set);
    CleanUpLater(name, mark, Clock::now() + std::chrono::duration_cast<Clock::duration>(options_.grace));
  }
  Finish(name, part, absl::OkStatus());
}

// The entry is not as it was read: it is read again.
void Registrar::OnConflict(const EntryName& name, Part part, const absl::Status& status) {
  Place& place = places_.at(name);
  if (++place.conflicts > kMostConflicts) {
    place.conflicts = 0;
    return Fail(name, part, absl::UnavailableError(status.message()));
  }
  const auto pause = options_.after_conflict * (1 << std::min(place.conflicts, 8));
  const std::chrono::duration<double> jittered(std::chrono::duration<double>(pause) *
                                               std::uniform_real_distribution<double>(0.5, 1)(random_));
  store_->Run(
      [this, name] {
        Place& again = places_.at(name);
        again.running = false;
        again.connects = !again.live.empty();
        Work(name);
      },
      Clock::now() + std::chrono::duration_cast<Clock::duration>(jittered));
}

// What came out of a part: OK, or a refusal that stays.
void Registrar::Finish(const EntryName& name, Part part, const absl::Status& status) {
  Place& place = places_.at(name);
  place.running = false;
  place.failures = place.conflicts = 0;
  if (!status.ok()) {
    Metrics().errors.Add();
    entry_log.Info("WorkloadEntry {}/{}: {}", name.ns, name.name, FromAbsl(status.message()));
  }
  Drop(&place, part);
  if (part == Part::kConnection) Answer(&place, status);
  Work(name);
}

// A part that did not come off and is tried again, unless it never will.
void Registrar::Fail(const EntryName& name, Part part, const absl::Status& status) {
  if (absl::IsCancelled(status)) return;  // the store stops
  if (!IsPassing(status)) return Finish(name, part, status);
  Place& place = places_.at(name);
  Metrics().errors.Add();
  place.running = false;
  if (place.failures == 2)
    entry_log.Warn("WorkloadEntry {}/{} waits: {}", name.ns, name.name, FromAbsl(status.message()));
  place.not_before = Clock::now() + Backoff(place.failures++);
  // A proxy that the mesh knows goes on although the API server does not answer.
  const bool known = options_.objects().Find(Kind::kWorkloadEntry, Text(name.ns), Text(name.name)) != nullptr;
  if (part == Part::kConnection) {
    do {
      Answer(&place, known ? absl::OkStatus() : status);
      if (!place.waiting.empty()) place.deciding = place.waiting.front().first;
    } while (!place.waiting.empty());
    place.connects = !place.live.empty();
  }
  WorkLater(name, place.not_before);
}

// Tells the stream that was decided about, if it waits. One that is refused is told to be closed, and counts
// no more.
void Registrar::Answer(Place* place, const absl::Status& status) {
  const auto it = std::find_if(place->waiting.begin(), place->waiting.end(),
                               [place](const auto& one) { return one.first == place->deciding; });
  if (it != place->waiting.end()) {
    const auto [stream, ready] = std::move(*it);
    place->waiting.erase(it);
    if (!status.ok()) {
      place->live.erase(stream);
      names_.erase(stream);
      Metrics().connected.Add(-1);
    }
    ready(status);
  }
  if (!place->waiting.empty()) place->connects = true;
  if (place->live.empty()) place->connects = false;
}

void Registrar::Note(const EntryName& name, const Step& step) {
  switch (step.kind) {
    case Step::Kind::kCreate:
      Metrics().made.Add();
      return entry_log.Info("registered WorkloadEntry {}/{}", name.ns, name.name);
    case Step::Kind::kAnnotate:
      if (step.set.contains(kConnectedAnnotation)) {
        Metrics().updated.Add();
        return entry_log.Info("the proxy of WorkloadEntry {}/{} is connected", name.ns, name.name);
      }
      Metrics().departed.Add();
      return entry_log.Info("the proxy of WorkloadEntry {}/{} is gone", name.ns, name.name);
    case Step::Kind::kDelete:
      Metrics().deleted.Add();
      return entry_log.Info("deleted WorkloadEntry {}/{}: its proxy stays away", name.ns, name.name);
    case Step::Kind::kSetConditions:
      return entry_log.Debug("wrote the health of WorkloadEntry {}/{}", name.ns, name.name);
    case Step::Kind::kNothing:
    case Step::Kind::kRefuse:
      return;
  }
}

// A part that is done, or not true any more. What a proxy said meanwhile stays.
void Registrar::Drop(Place* place, Part part) {
  if (part == Part::kDeparture && std::exchange(place->departure, std::nullopt)) --departures_;
  if (part == Part::kHealth && place->health && place->health->at == place->deciding_health)
    place->health.reset();
  if (part == Part::kExpiry) place->expired.clear();
}

void Registrar::ForgetIfIdle(const EntryName& name) {
  const auto it = places_.find(name);
  const Place& place = it->second;
  if (place.live.empty() && !place.departure && place.expired.empty() && !place.running) places_.erase(it);
}

// At a rate, so that a network that falls apart does not fall upon the API server.
void Registrar::CleanUpLater(const EntryName& name, const std::string& mark, Clock::time_point at) {
  store_->Run(
      [this, name, mark] {
        const auto now = Clock::now();
        if (now < next_cleanup_) return CleanUpLater(name, mark, next_cleanup_);
        next_cleanup_ = now + options_.between_cleanups;
        places_[name].expired = mark;
        Work(name);
      },
      at);
}

// Entries whose replica is gone, too. What counts is how long this replica has seen them so: the clocks of
// others may differ.
void Registrar::Sweep() {
  const auto now = Clock::now();
  size_t due = 0;
  for (const auto& [name, seen] : seen_) {
    const std::chrono::nanoseconds age = now - seen.since;
    const bool of_connection = IsMarkOfConnection(seen.mark);
    const bool expired =
        of_connection ? options_.most_age.count() > 0 && age > options_.most_age : age >= options_.grace;
    if (expired) CleanUpLater(name, seen.mark, now + options_.between_cleanups * static_cast<int64_t>(due++));
  }
  store_->Run([this] { Sweep(); }, now + options_.sweep_every);
}

Clock::duration Registrar::Backoff(int failures) {
  const auto doubled = options_.first_retry * (1 << std::min(failures, 10));
  const std::chrono::duration<double> most = std::min<Clock::duration>(doubled, options_.most_retry);
  const auto jittered = most * std::uniform_real_distribution<double>(0.5, 1)(random_);
  return std::chrono::duration_cast<Clock::duration>(jittered);
}

}  // namespace fairlead::registration
