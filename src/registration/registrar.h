#ifndef FAIRLEAD_REGISTRATION_REGISTRAR_H_
#define FAIRLEAD_REGISTRATION_REGISTRAR_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/clock.h"
#include "config/object.h"
#include "config/store.h"
#include "model/proxy.h"
#include "registration/decision.h"
#include "registration/entry.h"
#include "registration/entry_store.h"

namespace fairlead::registration {

// Keeps the WorkloadEntries of the proxies that are connected here: made when a proxy with
// AUTO_REGISTER_GROUP comes, with the health that it reports, and cleaned up once it has been away for the
// grace period. Of each entry one read or write is under way at a time, and each write follows from the entry
// as it was read just before; so what happens meanwhile is not queued, but known when it is next decided. All
// on the store's thread. Source: Istio's pilot/pkg/autoregistration.
class Registrar {
 public:
  // With OK the proxy is served; else its stream ends with the status. Called once, on the store's thread.
  using Ready = std::function<void(const absl::Status&)>;

  struct Options {
    Rules rules;
    bool registers = true, takes_health = true;
    std::chrono::nanoseconds grace = std::chrono::seconds(10);
    // Longer than that no connection lasts: an entry that says otherwise is one whose replica and proxy went
    // at once. Zero: it may last for ever.
    std::chrono::nanoseconds most_age{0};
    Clock::duration sweep_every = std::chrono::seconds(100);
    Clock::duration between_health = std::chrono::seconds(1);  // writes of one entry
    Clock::duration between_cleanups = std::chrono::milliseconds(50);
    Clock::duration first_retry = std::chrono::seconds(1), most_retry = std::chrono::seconds(30);
    Clock::duration after_conflict = std::chrono::milliseconds(5);  // doubles
    size_t most_entries = 100'000;
    std::function<config::ObjectStore()> objects;  // as the mesh has them; on the store's thread
    uint64_t seed = 0;
  };
  // The store must outlive it, and be stopped before it goes.
  Registrar(Options options, EntryStore* store);

  // A client has said who it is. False: the registrar does not care about it, and `ready` is dropped. The
  // functions down to OnChanges are thread-safe and return at once.
  bool OnConnected(uint64_t stream, const model::ProxyPtr& proxy, WallTime since, Ready ready);
  void OnHealth(uint64_t stream, bool healthy, std::string_view message);
  void OnDisconnected(uint64_t stream);
  // Objects of the mesh have changed.
  void OnChanges(std::span<const config::ObjectChange> changes);
  // Waits until the departures so far are written, at most for so long. Not on the store's thread.
  void Drain(Clock::duration most);

 private:
  enum class Part : uint8_t { kNone, kConnection, kDeparture, kHealth, kExpiry };
  // All about one entry that something is to be done for, or whose proxy is here.
  struct Place {
    std::map<uint64_t, ConnectedProxy> live;
    std::vector<std::pair<uint64_t, Ready>> waiting;  // streams that are not served yet
    bool connects = false;  // what the proxies here mean for the entry is to be decided
    std::optional<Departure> departure;
    std::optional<ReportedHealth> health;
    std::string expired;  // a mark; "": not
    bool running = false, health_planned = false;
    uint64_t deciding = 0;       // the stream that the running part is about
    WallTime deciding_health{};  // likewise
    Clock::time_point not_before{}, health_after{};
    int failures = 0, conflicts = 0;
  };
  // An entry that is cleaned up some day.
  struct Seen {
    std::string mark;
    Clock::time_point since;
  };

  void Connect(const EntryName& name, ConnectedProxy connection, Ready ready);
  void Disconnect(uint64_t stream);
  void TakeHealth(uint64_t stream, ReportedHealth health);
  void TakeEntry(const EntryName& name, const config::ConfigObject* entry);
  void TakeGroup(const std::string& ns, const std::string& group);
  bool IsServedAtOnce(const EntryName& name, const ConnectedProxy& connection) const;
  static const ConnectedProxy* Newest(const Place& place);
  Part NextPart(Place* place);
  void Begin(Place* place, Part part);
  void PlanHealth(const EntryName& name, Place* place);
  void Work(const EntryName& name);
  void WorkLater(const EntryName& name, Clock::time_point at);
  void OnRead(const EntryName& name, Part part, absl::StatusOr<std::optional<Entry>> read);
  Step Decide(const EntryName& name, const Place& place, Part part, const Entry* entry) const;
  void Write(const EntryName& name, Part part, const Step& step, const Entry* entry);
  void OnWritten(const EntryName& name, Part part, const Step& step, const absl::Status& status);
  void OnConflict(const EntryName& name, Part part, const absl::Status& status);
  void Finish(const EntryName& name, Part part, const absl::Status& status);
  void Fail(const EntryName& name, Part part, const absl::Status& status);
  void Answer(Place* place, const absl::Status& status);
  void Note(const EntryName& name, const Step& step);
  void Drop(Place* place, Part part);
  void ForgetIfIdle(const EntryName& name);
  void CleanUpLater(const EntryName& name, const std::string& mark, Clock::time_point at);
  void Sweep();
  Clock::duration Backoff(int failures);

  const Options options_;
  EntryStore* const store_;
  std::atomic<size_t> departures_{0};  // that are told and not written
  // From here on of the store's thread.
  std::map<EntryName, Place> places_;
  std::map<uint64_t, EntryName> names_;  // by stream
  std::map<EntryName, Seen> seen_;
  Clock::time_point next_cleanup_{};
  std::mt19937_64 random_;
};

}  // namespace fairlead::registration

#endif  // FAIRLEAD_REGISTRATION_REGISTRAR_H_
