#ifndef FAIRLEAD_CONTROLLERS_LEASE_H_
#define FAIRLEAD_CONTROLLERS_LEASE_H_

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fairlead::controllers {

// The kinds of objects that Istio's locks are: istiod keeps the older ones in an annotation of a ConfigMap.
// Whoever takes turns with it must keep them there, too.
// Source: Istio's pilot/pkg/leaderelection (ConfigMapLock, LeaseLock).
enum class LockObject { kLease, kConfigMap };

// What a lock says of who leads. Times are for people: nobody compares them with a clock.
// Source: kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1; client-go's
// LeaderElectionRecord for ConfigMaps
struct LeaseRecord {
  std::string holder;  // "": nobody
  std::string key;     // the holder's revision, of locks that revisions compete for
  std::string acquired, renewed;
  int64_t seconds = 0;  // how long it holds without being renewed
  int64_t transitions = 0;
  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// The record of a lock, and the record put into one, of which all else stays. What cannot be read is
// nobody's.
LeaseRecord RecordOf(LockObject kind, const nlohmann::json& lock);
void SetRecord(LockObject kind, const LeaseRecord& record, nlohmann::json* lock);
// A lock with nothing but its name.
nlohmann::json NewLock(LockObject kind, const std::string& ns, const std::string& name);
// The path of the locks of a namespace.
std::string LocksPath(LockObject kind, const std::string& ns);

// "2026-11-24T00:22:45.123456Z", as Leases have it.
std::string MicroTimeText(std::chrono::system_clock::time_point time);

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_LEASE_H_
