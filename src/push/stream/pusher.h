#ifndef FAIRLEAD_PUSH_STREAM_PUSHER_H_
#define FAIRLEAD_PUSH_STREAM_PUSHER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "base/executor.h"
#include "base/log_rate.h"
#include "push/stream/admission.h"
#include "push/stream/answer_observer.h"
#include "push/stream/connection_observer.h"
#include "push/stream/resource_maker.h"
#include "push/stream/rest.h"
#include "push/stream/stream.h"
#include "push/stream/track.h"
#include "push/stream/unproven_peers.h"

namespace fairlead::push {

struct PusherOptions {
  size_t threads = 2;
  // A stream whose proxy does not take a message within this time, and a second more for each `slowest_rate`
  // bytes of it, is cut (Istio's PILOT_XDS_SEND_TIMEOUT), unless all proxies are slow (see Traffic). Zero:
  // never.
  Clock::duration send_timeout = std::chrono::seconds(5);
  size_t slowest_rate = 256 << 10;
  // How long a stream is to be idle before its client is sent what it goes on asking for although nothing
  // refers to it any more (see xds::StreamCore::HoldsBack).
  Clock::duration time_to_let_go = std::chrono::seconds(2);
  // How long a proxy's secrets wait for the API server's word whether it may have them. Then it is answered
  // without.
  Clock::duration time_to_review = std::chrono::seconds(5);
  // Whether every publication concerns everybody, and everything is made anew and compared with what was made
  // before and should still hold: for tests.
  bool shadow = false;
  FindScope scope;
  // Null: every peer may act as any proxy, and is nobody.
  std::shared_ptr<const Authorizer> authorizer = nullptr;
  Inspector inspector = nullptr;  // null: types of inspection are not served
  // Who answers inspections: ControlPlane.identifier in their responses; "": not said.
  std::string control_plane = {};
  double max_streams_per_second = 0;  // see StreamAdmission
  xds::RequestLimits limits = {};
  std::vector<AnswerObserver*> observers = {};  // must outlive the pusher
  ConnectionObserver* connections = nullptr;    // likewise; null: none
  model::NodeLimits node_limits = {};
  UnprovenLimits unproven = {};
  // After so long without work the pusher's own thread sleeps until there is some: by then it has let go of
  // all that nobody uses any more.
  Clock::duration rest_after = std::chrono::seconds(45);
};

// The name of the track that a stream begins on, by who its proxy is; "", or one that is no track's: the live
// one. Called by several threads at once.
using TrackRule = std::function<std::string(const model::Proxy& proxy)>;

// A track at a moment.
struct TrackReport {
  std::string name;
  uint64_t publications = 0;
  mesh::SnapshotPtr snapshot;  // the newest; null before the first
  Clock::time_point published_at{};
  size_t streams = 0;  // that follow it, or have not left it yet
};

// All streams, the threads that work for them, and the newest snapshot. Thread-safe.
class Pusher {
 public:
  // A variant may have no type that `generators` lack.
  Pusher(PusherOptions options, Generators generators, GeneratorVariants variants = {},
         ObjectTypes objects = {});
  ~Pusher();  // as Stop()

  // The next snapshot of a track, which is made if it is new: the streams that follow it and that the change
  // concerns are brought to it. To be called from one thread.
  void Publish(mesh::SnapshotPtr snapshot, const Reasons& reasons, std::string_view track = kLiveTrack);
  // Lets a stream follow another track from now on. NotFound where there is no such stream, or nothing was
  // published on the track yet.
  absl::Status Move(uint64_t stream, std::string_view track);
  // From now on streams begin on the tracks that the rule names; null: on the live one. Streams that have
  // begun stay where they are, unless `all` is set: then they go to the tracks that it names, too.
  void SetRule(TrackRule rule, bool all = false);
  // What becomes of the streams that follow a track which is dropped.
  enum class Followers : uint8_t { kForbidden, kToLive };
  // Lets a track and its newest snapshot go, once the last stream has left it. FailedPrecondition while a
  // stream follows it, unless they are to go to the live one; NotFound where there is none, and for the live
  // one. REQUIRES: nobody publishes on it meanwhile.
  absl::Status Drop(std::string_view track, Followers followers = Followers::kForbidden);
  // All tracks, the live one first.
  std::vector<TrackReport> Tracks() const;
  // A new stream. The caller keeps it until it has called OnClosed.
  StreamPtr Open(StreamOptions options);
  StreamPtr Open(xds::Framing framing, std::string peer) {
    return Open({.framing = framing, .peer = {.address = std::move(peer)}});
  }
  // Ends a stream, whose proxy connects again; nothing where there is no such stream.
  void Disconnect(uint64_t stream);
  size_t StreamCount() const;
  // The streams at which a request, a push or a message is under way; 0: all proxies were sent what is
  // published, and all that they asked for.
  size_t BusyStreams() const;
  // The streams whose clients have said who they are, by connection name.
  std::vector<StreamReport> Report() const;
  // The newest snapshot; null before the first.
  mesh::SnapshotPtr Snapshot() const;
  // A proxy in the newest snapshot; nothing before the first. `previous` may be its scope in an earlier one.
  std::optional<ProxyView> ViewOf(const model::ProxyPtr& proxy, const mesh::ProxyScopePtr& previous) const;
  const model::NodeLimits& node_limits() const { return options_.node_limits; }
  // What makes the resources that streams are sent.
  ResourceMaker& maker() const {
    rest_.Disturb();
    return maker_;
  }
  // The process stood still for so long, as when it or its machine is stopped: no proxy is at fault for that.
  void Excuse(Clock::duration lost);
  // Processor time that streams have taken so far: what making and sending cost.
  std::chrono::nanoseconds CpuTime() { return executor_.CpuTime(); }
  // Closes all streams with Unavailable, so that their proxies go elsewhere, and ends the threads.
  void Stop();

 private:
  friend class Stream;
  bool Stopping() const;
  void Forget(const StreamPtr& stream);
  // Lets a new stream begin: now, in its turn, or not at all.
  void Admit(const StreamPtr& stream);
  void KeepHouse();
  void KeepRound(Clock::time_point now, int round);
  std::vector<StreamPtr> TakeBeginning(Clock::time_point now);
  bool MayRest(Clock::time_point now);
  void Tidy(bool look_for_quiet);
  void SweepCaches(Clock::time_point now);
  void CountMismatches();
  // Lets a stream that begins follow the track of its proxy.
  void Assign(const model::Proxy& proxy, TrackPosition* position);
  Track* FindTrack(std::string_view name);  // null: none
  Track* FindTrackLocked(std::string_view name);
  std::vector<mesh::SnapshotPtr> NewestOfTracks(Clock::time_point now);
  std::vector<StreamPtr> Streams() const;
  std::vector<StreamPtr> StreamsToCheck() const;

  const PusherOptions options_;
  StreamAdmission admission_;
  const std::shared_ptr<UnprovenPeers> unproven_ = std::make_shared<UnprovenPeers>(options_.unproven);
  LogRate warnings_;  // by peer

  Track live_{std::string(kLiveTrack)};
  mutable ResourceMaker maker_;  // its memory of what it made changes no answer

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Track>, std::less<>> tracks_;  // but live_; guarded by mutex_
  std::shared_ptr<const TrackRule> rule_;                              // null: none; guarded by mutex_
  // Streams may not have left them, or be about to look at them. Guarded by mutex_.
  std::vector<std::pair<Clock::time_point, std::unique_ptr<Track>>> dropped_;
  absl::flat_hash_set<StreamPtr> streams_;  // guarded by mutex_
  Traffic traffic_;
  std::atomic<uint64_t> mismatches_{mesh::MismatchCount()};      // as counted last
  std::atomic<uint64_t> last_stream_{0};                         // the number of streams so far
  std::deque<std::pair<Clock::time_point, StreamPtr>> delayed_;  // by time to begin; guarded by mutex_
  bool stopping_ = false;                                        // guarded by mutex_
  std::condition_variable stop_;
  mutable Rest rest_;  // of the housekeeper
  Executor executor_;
  size_t dropped_bytes_ = 0;                  // since memory was given back
  uint64_t seen_work_ = 0, tidied_work_ = 0;  // how much was done, at the housekeeper's last rounds
  std::thread housekeeper_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_PUSHER_H_
