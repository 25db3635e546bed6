#ifndef FAIRLEAD_CA_ISSUE_RATE_H_
#define FAIRLEAD_CA_ISSUE_RATE_H_

#include <cstddef>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "base/clock.h"

namespace fairlead::ca {

// How many certificates one requester may have: so many at once, and so many a second from then on. The
// caller decides about the identity; an identity without requests for a while is forgotten. Thread-safe.
class IssueRate {
 public:
  struct Limits {
    double per_second = 0;  // 0: no limit
    int burst = 20;         // 1 and more
  };
  enum class Verdict {
    kGranted,
    kRefused,
    kFirstRefused,  // the first since the requester was forgotten or never known: worth a line in the log
  };
  explicit IssueRate(Limits limits) : limits_(limits) {}

  Verdict Take(const std::string& requester, Clock::time_point now);
  const Limits& limits() const { return limits_; }
  size_t known() const;  // requesters that are remembered

 private:
  struct Requester {
    Clock::time_point paid_until{};  // when what was granted is used up
    bool refused = false;
  };
  void Forget(Clock::time_point now);  // REQUIRES: mutex_ held

  const Limits limits_;
  mutable std::mutex mutex_;
  absl::flat_hash_map<std::string, Requester> requesters_;
  size_t look_at_ = 1024;  // so many requesters are a reason to forget some
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_ISSUE_RATE_H_
