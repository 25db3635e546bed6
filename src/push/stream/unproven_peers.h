#ifndef FAIRLEAD_PUSH_STREAM_UNPROVEN_PEERS_H_
#define FAIRLEAD_PUSH_STREAM_UNPROVEN_PEERS_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/clock.h"
#include "base/strings.h"
#include "xds/held.h"

namespace fairlead::push {

// What peers that have proven no identity may take. Bytes are estimates of what the process holds for them.
struct UnprovenLimits {
  // That all their streams hold together beyond each stream's own share; an address may have half of it, a
  // stream a sixteenth. A mesh of more services has more names, and proxies that name more: each adds to it.
  size_t memory = 24 << 20, memory_of_service = 64 << 10;
  // A stream's own share of each: of what its client says of itself, and of the names that it alone asks for.
  size_t of_stream = 32 << 10;
  // Large requests that wait for a thread, together. Smaller ones do not count.
  size_t waiting = 16 << 20, large_request = 128 << 10;
};

// One budget of memory and of time for all peers without identity, of which one address may have half.
// Thread-safe.
class UnprovenPeers : public std::enable_shared_from_this<UnprovenPeers> {
 public:
  class Account;
  explicit UnprovenPeers(const UnprovenLimits& limits) : limits_(limits) {}

  // Of one stream. `host`: the peer's address without its port.
  std::unique_ptr<Account> Open(std::string_view host);
  void SetServices(size_t count);
  const UnprovenLimits& limits() const { return limits_; }

 private:
  struct Host {
    size_t accounts = 0, held = 0, waiting = 0;
    // Seconds of threads that it has used beyond its share; falls with time.
    double debt = 0;
    Clock::time_point since{};
  };
  struct Set {
    size_t accounts = 0, charged = 0;
    std::string host;  // that is charged for it
  };
  using Names = std::vector<xds::HeldNames>;

  // REQUIRES of these: mutex_ held.
  size_t Room() const { return limits_.memory + services_ * limits_.memory_of_service; }
  bool Charge(Host* host, size_t before, size_t now);
  void Drop(const Names& names);

  const UnprovenLimits limits_;
  std::mutex mutex_;
  size_t services_ = 0, held_ = 0, waiting_ = 0;  // guarded by mutex_, as all that follows
  StringMap<Host> hosts_;                         // that have an account or are charged for something
  absl::flat_hash_map<const xds::NameSet*, Set> sets_;
};

// Thread-safe.
class UnprovenPeers::Account {
 public:
  // `host` has been counted by Open.
  Account(std::shared_ptr<UnprovenPeers> peers, std::string_view host)
      : peers_(std::move(peers)), host_(host) {}
  ~Account();
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  // What the stream holds from now on: bytes of its own, and names, which others may hold, too. False where
  // it is too much; the stream is to end then.
  bool Hold(size_t own, Names names);
  // A request waits for a thread. False where too much waits already.
  bool Wait(size_t bytes);
  void NoteTaken();
  // A thread has worked for the stream, for so many seconds.
  void Spend(double seconds, Clock::time_point now);
  // Whether the address has used more than its share of the threads: others go first.
  bool InDebt(Clock::time_point now) const;

 private:
  const std::shared_ptr<UnprovenPeers> peers_;
  const std::string host_;
  size_t charged_ = 0, waiting_ = 0, free_names_ = 0;  // guarded by the peers' mutex, as the names
  Names names_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_UNPROVEN_PEERS_H_
