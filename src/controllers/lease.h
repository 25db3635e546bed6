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

// What a Lease says of who leads. Times are for people: nobody compares them with a clock.
// Source: kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1
struct LeaseRecord {
  std::string holder;  // "": nobody
  std::string key;     // the holder's revision, of locks that revisions compete for
  std::string acquired, renewed;
  int64_t seconds = 0;  // how long it holds without being renewed
  int64_t transitions = 0;
  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// The record of a Lease, and the record put into one, of which all else stays.
LeaseRecord RecordOf(const nlohmann::json& lease);
void SetRecord(const LeaseRecord& record, nlohmann::json* lease);
// A Lease with nothing but its name.
nlohmann::json NewLease(const std::string& ns, const std::string& name);

// "2026-11-24T00:22:45.123456Z", as Leases have it.
std::string MicroTimeText(std::chrono::system_clock::time_point time);

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_LEASE_H_
