#ifndef FAIRLEAD_FETCH_WEB_REQUEST_H_
#define FAIRLEAD_FETCH_WEB_REQUEST_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fetch/blocked_addresses.h"
#include "fetch/client.h"

namespace fairlead::fetch {

// What is asked of a server of the web: HTTPS with verified certificates, or plaintext on this machine alone
// (IsOfThisMachine), unless it says otherwise. A request with a body is a POST. Redirects are followed where
// some are allowed, never from https to plaintext; an Authorization header stays with the first host.
struct WebRequest {
  std::string url;
  std::vector<std::string> headers = {};  // "Name: value"
  std::optional<std::string> body = {};
  std::string roots_file = {};  // that vouch for the server; "": the system's
  size_t most_bytes = 1 << 20;  // of the answer
  int most_redirects = 0;
  std::chrono::milliseconds timeout{5000};      // for all of it; 3 s of it to connect
  bool plaintext = false;                       // an http URL may lead to another machine
  bool unverified = false;                      // any certificate is believed
  const BlockedAddresses* blocked = nullptr;    // null: none are
  const std::atomic<bool>* stopping = nullptr;  // breaks the request off within 100 ms
};

struct WebAnswer {
  int status = 0;
  std::string body;
  std::string address = {};  // whose answer it is: an IP address, of a proxy where there is one
  // The headers of the last answer, names in lower case; 64 KiB at most, the rest is left out.
  Headers headers = {};
};

// Blocks, while the process's client works. No answer: Unavailable, ResourceExhausted where it is too long,
// PermissionDenied where the server's address is blocked, Cancelled where it was stopped. The status of an
// answer is the caller's to judge.
absl::StatusOr<WebAnswer> Ask(const WebRequest& request);

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_WEB_REQUEST_H_
