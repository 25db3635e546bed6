#ifndef FAIRLEAD_JWKS_DOWNLOADS_H_
#define FAIRLEAD_JWKS_DOWNLOADS_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fetch/blocked_addresses.h"
#include "fetch/client.h"
#include "fetch/whole_answer.h"

namespace fairlead::jwks {

// HTTP GETs side by side over the process's client, each bounded in time, bytes and redirects; what comes of
// them is heard on one thread. TLS servers are verified against the system's roots and the extra ones; from
// https no redirect leads to http. Not thread-safe but for Wake.
class Downloads {
 public:
  struct Options {
    std::string extra_roots;     // a file of PEM certificates that count besides; "" or absent: none
    bool insecure = false;       // TLS servers are believed (JWKS_RESOLVER_INSECURE_SKIP_VERIFY)
    size_t max_bytes = 1 << 20;  // of a body
    size_t at_a_time = 16;       // the others wait for their turn
    int max_redirects = 5;
    fetch::BlockedAddresses blocked;
  };
  // The body of a 2xx answer, else what went wrong. Called in Wait; may start others.
  using Done = std::function<void(absl::StatusOr<std::string>)>;

  explicit Downloads(Options options) : options_(std::move(options)) {}
  ~Downloads();  // what runs is broken off; its Done is not called
  Downloads(const Downloads&) = delete;
  Downloads& operator=(const Downloads&) = delete;

  // `timeout` for all of it, from its turn on.
  void Get(std::string url, Clock::duration timeout, Done done);
  // Works until something ended, Wake was called or the time is over.
  void Wait(Clock::duration at_most);
  // Thread-safe: ends a Wait, the present one or the next.
  void Wake();

 private:
  using Number = uint64_t;  // of a download
  struct Waiting {
    std::string url;
    Clock::duration timeout;
    Done done;
  };
  struct Running {
    fetch::Client::Handle handle;
    Done done;
  };

  void StartNext();
  fetch::Request RequestOf(const Waiting& download) const;
  absl::StatusOr<std::string> OutcomeOf(fetch::WholeAnswer answer) const;
  void Ended(Number number, fetch::WholeAnswer answer);

  const Options options_;
  std::deque<Waiting> waiting_;
  std::map<Number, Running> running_;
  Number last_ = 0;

  std::mutex mutex_;
  std::condition_variable woken_;
  bool wake_ = false;                             // guarded by mutex_
  std::map<Number, fetch::WholeAnswer> answers_;  // guarded by mutex_; not taken yet
};

}  // namespace fairlead::jwks

#endif  // FAIRLEAD_JWKS_DOWNLOADS_H_
