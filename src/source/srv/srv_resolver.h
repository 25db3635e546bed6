#ifndef FAIRLEAD_SOURCE_SRV_SRV_RESOLVER_H_
#define FAIRLEAD_SOURCE_SRV_SRV_RESOLVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dns/forwarder.h"
#include "dns/lookup.h"
#include "dns/poller.h"
#include "source/srv/srv_entries.h"

namespace fairlead::source {

// What DNS says of a name: its SRV records with the addresses of their targets.
struct SrvFound {
  std::vector<SrvInstance> instances;  // none: there is no such service
  std::chrono::seconds ttl{0};         // the least of all records
};

// Looks SRV records up, and the addresses of their targets where the answer does not bring them along. Over
// UDP, and over TCP where an answer is cut. One thread. Source: RFC 2782.
class SrvResolver {
 public:
  // Unavailable: no resolver gave an answer of use. Called within Turn.
  using Done = std::function<void(size_t name, absl::StatusOr<SrvFound>)>;
  struct Options {
    std::vector<dns::SocketAddress> resolvers;
    std::chrono::milliseconds answer{3'000};  // time limit of one resolver
  };
  SrvResolver(Options options, dns::Poller* poller, Done done);

  // `name`: a number for `done`, of one that is not being looked up.
  void Look(size_t name, const std::string& text);
  bool at_rest() const { return asked_.empty(); }
  void Expire(Clock::time_point now) { forwarder_.Expire(now); }
  Clock::time_point next() const { return forwarder_.next(); }

 private:
  struct Question {
    size_t name;
    std::string text;
    uint16_t type;
    bool tcp;
  };
  struct Lookup {
    std::vector<dns::SrvRecord> records;
    std::map<std::string, std::set<std::string>> addresses;  // by target
    uint32_t ttl = UINT32_MAX;
    size_t waits_for = 0;  // answers about targets
  };
  void Ask(Question question);
  void OnAnswer(uint64_t number, const std::string& message);
  absl::Status Take(const Question& question, const dns::LookupAnswer& answer);
  absl::Status TakeServices(const Question& question, const dns::LookupAnswer& answer);
  void Finish(size_t name, const absl::Status& status);

  const Done done_;
  dns::Forwarder forwarder_;
  std::map<uint64_t, Question> asked_;
  std::map<size_t, Lookup> lookups_;
  uint64_t last_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_SRV_SRV_RESOLVER_H_
