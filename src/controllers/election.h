#ifndef FAIRLEAD_CONTROLLERS_ELECTION_H_
#define FAIRLEAD_CONTROLLERS_ELECTION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "controllers/lease.h"
#include "kube/api_writer.h"

namespace fairlead::controllers {

// Istio's locks, by what their holder does.
inline constexpr char kIngressLock[] = "istio-leader";
inline constexpr char kGatewayStatusLock[] = "istio-gateway-status-leader";
inline constexpr char kDeploymentLock[] = "istio-gateway-deployment";
inline constexpr char kStatusLock[] = "istio-status-leader";
inline constexpr char kNamespaceLock[] = "istio-namespace-controller-election";
inline constexpr char kExportLock[] = "istio-serviceexport-controller-election";
inline constexpr char kTrustBundleLock[] = "istio-clustertrustbundle-controller-election";
inline constexpr char kAddressLock[] = "istio-ip-autoallocate";

struct ElectionOptions {
  std::string ns;        // of the lock: the control plane's own
  std::string lock;      // its name
  std::string identity;  // of this replica, that no other has
  std::string revision = "default";
  // The cluster of the lock where the replica resides in another one; "": its own. There it leaves the lock
  // to a replica of its revision that resides in that cluster.
  std::string other_cluster = {};
  LockObject object = LockObject::kLease;  // what the lock is, for all who share it
  // One leader for each revision (the lock's name ends with it); else one in all, and a replica of the
  // default revision takes the lock from one of another.
  bool per_revision = false;
  bool enabled = true;  // false: there is one replica, and it leads (ENABLE_LEADER_ELECTION)
  std::chrono::milliseconds lease{30'000};  // rounded up to seconds
  // Without a renewal for so long a leader is none any more, and this often it renews. Must be in this order:
  // what it still does then is over before the lease is.
  std::chrono::milliseconds renew_limit{15'000}, retry{7'500};
  uint64_t seed = 0;
};

// Holds a lock, or waits for it: of all replicas one leads at a time. As client-go does it: a lease of
// another is over when it was not seen to change for as long as it holds, by this machine's own clock, which
// may be set to any time. A leader that cannot renew stops before that, by itself, even if its thread hangs.
//
// All of it is on the writer's thread, but for what is said to be thread-safe. The writer must outlive it, or
// be stopped before it goes.
// Source: client-go's tools/leaderelection; Istio's pilot/pkg/leaderelection (names, revisions).
class Election {
 public:
  struct Callbacks {
    std::function<void()> won, lost;  // null: nobody wants to know
  };
  Election(ElectionOptions options, kube::ApiWriter* writer, Callbacks callbacks);

  // Once. Thread-safe.
  void Start();
  // Whether this replica leads now. What is asked before a write is sent. Thread-safe.
  bool Leads() const;
  // It leads no longer, and gives the lease back, so that another need not wait. Whatever the leader does
  // must be over before. `done` is called on the writer's thread, after two seconds at most, and may be
  // before this returns. Once. Thread-safe.
  void Release(std::function<void()> done);

  const std::string& lock() const { return lock_; }
  // How often this replica became leader.
  uint64_t terms() const { return terms_; }

 private:
  using Answer = kube::ApiAnswer;
  using Json = nlohmann::json;

  void Step();
  void Read();
  void OnRead(const Answer& answer);
  void Judge();
  void AskDefaultRevision();
  void Take();
  void Put(LeaseRecord record, bool create);
  void OnPut(const LeaseRecord& record, Clock::time_point sent, const Answer& answer);
  void Observe(Json lease);
  void Lead(Clock::time_point since);
  void Lose(std::string_view why);
  void Later();
  void Note(std::string trouble);
  void GiveBack(const Answer& read, const std::function<void()>& done);
  bool HeldByOther() const;
  kube::ApiRequest Request(kube::ApiRequest::Verb verb) const;

  const ElectionOptions options_;
  const std::string lock_, named_;
  kube::ApiWriter* const writer_;
  const Callbacks callbacks_;
  metrics::Gauge& gauge_;
  std::mt19937_64 random_;

  std::optional<Json> lease_;  // the lock as last seen; nothing: there is none, or it has to be read
  LeaseRecord seen_;           // of it
  Clock::time_point seen_at_{};
  bool leading_ = false;
  std::string trouble_;                               // as last logged
  std::atomic<Clock::duration::rep> leads_until_{0};  // since the clock's epoch; 0: it does not lead
  std::atomic<bool> released_{false};
  std::atomic<uint64_t> terms_{0};
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_ELECTION_H_
