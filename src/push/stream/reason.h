#ifndef FAIRLEAD_PUSH_STREAM_REASON_H_
#define FAIRLEAD_PUSH_STREAM_REASON_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "config/kind.h"

namespace fairlead::push {

// Why something is pushed; the names are those of Istio's metric pilot_push_triggers.
enum class Reason : uint8_t {
  kEndpoint,
  kConfig,
  kService,
  kSecret,
  kNetworks,  // the ways between networks
  kGlobal,    // mesh settings
  kProxy,     // the proxy's own workload: labels, locality
  kDebug,     // an operator's wish
  kUnknown,
};
inline constexpr size_t kReasonCount = 9;
std::string_view NameOf(Reason reason);

// What a change of an object of this kind counts as.
Reason ReasonOf(config::Kind kind);

// The reasons of one publication, or of several in a row: how many changes of each sort are in it, and when
// the first of them came.
struct Reasons {
  std::array<uint32_t, kReasonCount> counts{};
  Clock::time_point first{};  // of the change that has waited longest; the clock's epoch: not known
  bool everything = false;    // proxies are to be sent again what they have, changed or not

  void Add(Reason reason) { ++counts[static_cast<size_t>(reason)]; }
  bool Has(Reason reason) const { return counts[static_cast<size_t>(reason)] != 0; }
  bool Only(Reason reason) const;
  size_t Total() const;
  // "config:3 service:1"; "none" where there is none.
  std::string ToText() const;
};

// What one publication after the other was for, so that it can be told what those were for that came after
// one of them.
struct PublicationLog {
  std::array<uint32_t, kReasonCount> counts{};  // of all so far; differences count
  uint64_t everything = 0;                      // the number of the last one of everything; 0: none
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_REASON_H_
