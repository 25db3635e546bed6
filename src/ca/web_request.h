#ifndef FAIRLEAD_CA_WEB_REQUEST_H_
#define FAIRLEAD_CA_WEB_REQUEST_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace fairlead::ca {

// What is asked of a server of the web: HTTPS with verified certificates, or plaintext on this machine alone
// (IsOfThisMachine). A request with a body is a POST.
struct WebRequest {
  std::string url;
  std::vector<std::string> headers = {};  // "Name: value"
  std::optional<std::string> body = {};
  std::string roots_file = {};  // that vouch for the server; "": the system's
  size_t most_bytes = 1 << 20;  // of the answer
  int most_redirects = 0;
  std::chrono::milliseconds timeout{5000};  // for all of it; 3 s of it to connect
};

struct WebAnswer {
  int status = 0;
  std::string body;
};

// Blocks. Unavailable where there is no answer; the status of one is the caller's to judge.
absl::StatusOr<WebAnswer> Ask(const WebRequest& request);

// Whether a URL is of plaintext that does not leave the machine.
bool IsOfThisMachine(std::string_view url);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_WEB_REQUEST_H_
