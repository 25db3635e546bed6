#ifndef FAIRLEAD_JWKS_DOWNLOADS_H_
#define FAIRLEAD_JWKS_DOWNLOADS_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fetch/blocked_addresses.h"

namespace fairlead::jwks {

// HTTP GETs side by side on one thread, each bounded in time, bytes and redirects. TLS servers are verified
// against the system's roots and the extra ones; from https no redirect leads to http. Not thread-safe but
// for Wake.
class Downloads {
 public:
  struct Options {
    std::string extra_roots;     // a file of PEM certificates that count besides; "" or absent: none
    bool insecure = false;       // TLS servers are believed (JWKS_RESOLVER_INSECURE_SKIP_VERIFY)
    size_t max_bytes = 1 << 20;  // of a body
    size_t at_a_time = 16;       // the others wait for their turn
    long max_redirects = 5;      // NOLINT: libcurl's type
    fetch::BlockedAddresses blocked;
  };
  // The body of a 2xx answer, else what went wrong. Called in Wait; may start others.
  using Done = std::function<void(absl::StatusOr<std::string>)>;

  explicit Downloads(Options options);
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
  struct Transfer;
  void StartNext();
  void Finish(void* handle, int result);

  const Options options_;
  void* const multi_;  // CURLM
  std::deque<std::unique_ptr<Transfer>> waiting_;
  std::map<void*, std::unique_ptr<Transfer>> running_;  // by CURL
};

}  // namespace fairlead::jwks

#endif  // FAIRLEAD_JWKS_DOWNLOADS_H_
