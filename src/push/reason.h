#ifndef FAIRLEAD_PUSH_REASON_H_
#define FAIRLEAD_PUSH_REASON_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/kind.h"

namespace fairlead::push {

using Clock = std::chrono::steady_clock;

// Why something is pushed; the names are those of Istio's metric pilot_push_triggers.
enum class Reason : uint8_t { kEndpoint, kConfig, kService, kSecret, kNetworks, kGlobal, kUnknown };
inline constexpr size_t kReasonCount = 7;
std::string_view NameOf(Reason reason);

// What a change of an object of this kind counts as.
Reason ReasonOf(config::Kind kind);

// The reasons of one publication: how many changes of each sort are in it, and when the first of them came.
struct Reasons {
  std::array<uint32_t, kReasonCount> counts{};
  Clock::time_point first{};  // of the change that has waited longest

  void Add(Reason reason) { ++counts[static_cast<size_t>(reason)]; }
  bool Has(Reason reason) const { return counts[static_cast<size_t>(reason)] != 0; }
  bool Only(Reason reason) const;
  size_t Total() const;
  // "config:3 service:1"; "none" where there is none.
  std::string ToText() const;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_REASON_H_
