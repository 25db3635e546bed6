#include "fetch/web_request.h"

#include <utility>

#include "base/strings.h"
#include "fetch/whole_answer.h"

namespace fairlead::fetch {
namespace {

constexpr std::chrono::milliseconds kConnectLimit{3000};

Request RequestOf(const WebRequest& web) {
  Request request{.method = web.body ? "POST" : "GET",
                  .url = web.url,
                  .headers = web.headers,
                  .body = web.body,
                  .tls = {.roots_file = web.roots_file, .unverified = web.unverified}};
  request.connect_limit = kConnectLimit;
  request.whole_limit = web.timeout;
  request.most_bytes = web.most_bytes;
  request.most_redirects = web.most_redirects;
  request.own_connection = true;
  request.plaintext = web.plaintext;
  request.blocked = web.blocked;
  return request;
}

// Those that callers tell apart; of the others each is one more way of being away.
bool IsTold(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsPermissionDenied(status) || absl::IsCancelled(status);
}

}  // namespace

absl::StatusOr<WebAnswer> Ask(const WebRequest& request) {
  WholeAnswer answer = AskAndWait(Client::Shared(), RequestOf(request), request.stopping);
  const absl::Status& status = answer.outcome.status;
  if (!status.ok()) return IsTold(status) ? status : absl::UnavailableError(status.message());
  return WebAnswer{answer.outcome.http_status, std::move(answer.body), std::move(answer.outcome.address),
                   std::move(answer.headers)};
}

}  // namespace fairlead::fetch
