#ifndef FAIRLEAD_WASM_DOWNLOAD_H_
#define FAIRLEAD_WASM_DOWNLOAD_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fetch/blocked_addresses.h"
#include "fetch/web_request.h"

namespace fairlead::wasm {

// By what rules modules are downloaded.
struct DownloadOptions {
  size_t most_bytes = 256 << 20;  // of a download and of a module (ISTIO_WASM_MAX_BINARY_SIZE_BYTES)
  std::chrono::milliseconds timeout{15'000};  // of one request (WASM_HTTP_REQUEST_TIMEOUT)
  int attempts = 5;                           // WASM_HTTP_REQUEST_MAX_RETRIES
  std::chrono::milliseconds first_wait{500};  // between them; it doubles
  std::set<std::string> insecure;   // hosts, with their ports, whose certificates are not verified; "*": all
  fetch::BlockedAddresses blocked;  // and BLOCKED_CIDRS_IN_WASM_FETCH
  std::vector<IpPrefix> inside = fetch::PrivateRanges();  // this network's own addresses
  std::string roots_file;                                 // that vouch for servers; "": the system's
  std::string docker_config;  // a config.json for images without a pull secret; "": none

  bool IsInsecure(const std::string& host) const { return insecure.contains("*") || insecure.contains(host); }
};

// One errand: requests under the same rules that end by the same time. Not thread-safe.
class Download {
 public:
  // Both must outlive it; `stopping` breaks it off.
  Download(const DownloadOptions& options, Clock::time_point deadline, const std::atomic<bool>& stopping)
      : options_(options), deadline_(deadline), stopping_(stopping) {}
  // Asks again where the server is away or in trouble, after a while that grows. Any answer with another
  // status is given back. Blocks.
  absl::StatusOr<fetch::WebAnswer> Ask(const fetch::WebRequest& request) const;
  // The same at an address that is not of this network.
  absl::StatusOr<fetch::WebAnswer> AskOutside(const fetch::WebRequest& request) const;
  bool IsInside(const std::string& address) const;
  // As Ask, without asking again.
  absl::StatusOr<fetch::WebAnswer> AskOnce(fetch::WebRequest request) const;
  const DownloadOptions& options() const { return options_; }

 private:
  bool Wait(std::chrono::milliseconds wait) const;
  absl::StatusOr<fetch::WebAnswer> AskBut(const fetch::BlockedAddresses& blocked,
                                          const fetch::WebRequest& request) const;
  absl::StatusOr<fetch::WebAnswer> AskOnceBut(const fetch::BlockedAddresses& blocked,
                                              fetch::WebRequest request) const;

  const DownloadOptions& options_;
  const Clock::time_point deadline_;
  const std::atomic<bool>& stopping_;
};

// The module at an http or https URL. Blocks.
absl::StatusOr<std::string> DownloadModule(const Download& download, const std::string& url);

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_DOWNLOAD_H_
