#ifndef FAIRLEAD_REGISTRATION_ENTRY_H_
#define FAIRLEAD_REGISTRATION_ENTRY_H_

#include <chrono>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "config/object.h"

namespace fairlead::registration {

using WallTime = std::chrono::system_clock::time_point;

// Istio's annotations of a WorkloadEntry whose proxy is, or was, connected.
inline constexpr char kGroupAnnotation[] = "istio.io/autoRegistrationGroup";
inline constexpr char kControllerAnnotation[] = "istio.io/workloadController";
inline constexpr char kConnectedAnnotation[] = "istio.io/connectedAt";
inline constexpr char kDisconnectedAnnotation[] = "istio.io/disconnectedAt";
// With any value: proxies report the health of the workload.
inline constexpr char kHealthAnnotation[] = "proxy.istio.io/health-checks-enabled";
inline constexpr char kHealthy[] = "Healthy";  // the type of the condition

struct EntryName {
  std::string ns, name;
  friend auto operator<=>(const EntryName&, const EntryName&) = default;
};

// One of a status; times in RFC 3339.
struct Condition {
  std::string type, status, message, last_probe, last_transition;
  std::string json = {};  // as the API server has it; "": these fields are all
};

// A WorkloadEntry as its store has it, as far as registration reads it. A plain value.
struct Entry {
  LabelMap annotations;
  std::string service_account;
  std::vector<Condition> conditions;
  std::string version = {};  // of the API server's object

  bool IsRegistered() const { return !LabelOr(annotations, kGroupAnnotation).empty(); }
  bool TakesHealth() const { return annotations.contains(kHealthAnnotation); }
  const Condition* Find(std::string_view type) const;  // null: none
};

// What says since when an entry is as it is: connected, disconnected, or "" where neither. Two texts are
// equal while nothing happened.
std::string MarkOf(const LabelMap& annotations);
bool IsMarkOfConnection(std::string_view mark);

// "2026-01-02T03:04:05.678901234Z", as Go writes it with nanoseconds: without zeros at the end.
std::string TimeText(WallTime time);
std::optional<WallTime> ParseTime(std::string_view text);

}  // namespace fairlead::registration

#endif  // FAIRLEAD_REGISTRATION_ENTRY_H_
