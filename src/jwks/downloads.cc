#include "jwks/downloads.h"

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/strings.h"

namespace fairlead::jwks {
namespace {

long Milliseconds(Clock::duration duration) {  // NOLINT: libcurl's type
  return std::max<long>(1, std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

void* NewMulti() {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  return initialized == CURLE_OK ? curl_multi_init() : nullptr;
}

// Adds roots to those of the system.
CURLcode AddRoots(CURL*, void* context, void* file) {
  SSL_CTX_load_verify_locations(static_cast<SSL_CTX*>(context), static_cast<const char*>(file), nullptr);
  return CURLE_OK;  // roots that cannot be read verify nobody
}

}  // namespace

struct Downloads::Transfer {
  const Options& options;
  std::string url;
  Clock::duration timeout;
  Done done;
  std::string body;
  std::string blocked;  // the address that must not be asked
  bool too_large = false;

  static size_t Write(char* data, size_t size, size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    transfer.too_large |= transfer.body.size() + size * count > transfer.options.max_bytes;
    if (transfer.too_large) return 0;
    transfer.body.append(data, size * count);
    return size * count;
  }
  static curl_socket_t Open(void* self, curlsocktype, curl_sockaddr* address) {
    auto& transfer = *static_cast<Transfer*>(self);
    transfer.blocked = transfer.options.blocked.Blocks(address->addr);
    if (!transfer.blocked.empty()) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }
  void Configure(CURL* handle);
  absl::StatusOr<std::string> Outcome(CURL* handle, CURLcode result);
};

void Downloads::Transfer::Configure(CURL* handle) {
  const auto set = [handle](CURLoption option, auto value) { curl_easy_setopt(handle, option, value); };
  const bool tls = EqualsIgnoreCase(url.substr(0, url.find(':')), "https");
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, tls ? "https" : "http,https");
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, options.max_redirects);
  set(CURLOPT_TIMEOUT_MS, Milliseconds(timeout));
  set(CURLOPT_CONNECTTIMEOUT_MS, Milliseconds(timeout));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_SSL_VERIFYPEER, options.insecure ? 0L : 1L);
  set(CURLOPT_SSL_VERIFYHOST, options.insecure ? 0L : 2L);
  if (!options.extra_roots.empty()) {
    set(CURLOPT_SSL_CTX_FUNCTION, &AddRoots);
    set(CURLOPT_SSL_CTX_DATA, const_cast<char*>(options.extra_roots.c_str()));
  }
  set(CURLOPT_FORBID_REUSE, 1L);
  set(CURLOPT_USERAGENT, "fairlead");
  set(CURLOPT_WRITEFUNCTION, &Transfer::Write);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::Open);
  set(CURLOPT_OPENSOCKETDATA, this);
}

absl::StatusOr<std::string> Downloads::Transfer::Outcome(CURL* handle, CURLcode result) {
  if (too_large) {
    return absl::ResourceExhaustedError(StrCat("the answer has more than ", options.max_bytes, " bytes"));
  }
  if (!blocked.empty()) {
    return absl::PermissionDeniedError(StrCat("nothing may be fetched from ", blocked));
  }
  if (result != CURLE_OK) {
    const std::string why = curl_easy_strerror(result);
    return result == CURLE_OPERATION_TIMEDOUT ? absl::DeadlineExceededError(why)
                                              : absl::UnavailableError(why);
  }
  long status = 0;  // NOLINT: libcurl's type
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200 || status > 299) return absl::UnavailableError(StrCat("the answer is status ", status));
  return std::move(body);
}

Downloads::Downloads(Options options) : options_(std::move(options)), multi_(NewMulti()) {}

Downloads::~Downloads() {
  for (const auto& [handle, transfer] : running_) {
    curl_multi_remove_handle(multi_, handle);
    curl_easy_cleanup(handle);
  }
  if (multi_ != nullptr) curl_multi_cleanup(multi_);
}

void Downloads::Get(std::string url, Clock::duration timeout, Done done) {
  waiting_.push_back(std::make_unique<Transfer>(
      Transfer{options_, std::move(url), timeout, std::move(done), {}, {}, false}));
}

void Downloads::StartNext() {
  while (!waiting_.empty() && running_.size() < options_.at_a_time) {
    std::unique_ptr<Transfer> next = std::move(waiting_.front());
    waiting_.pop_front();
    CURL* handle = multi_ == nullptr ? nullptr : curl_easy_init();
    if (handle == nullptr) {
      next->done(absl::ResourceExhaustedError("no memory for libcurl"));
      continue;
    }
    next->Configure(handle);
    running_.emplace(handle, std::move(next));
    curl_multi_add_handle(multi_, handle);
  }
}

void Downloads::Finish(void* handle, int result) {
  const auto found = running_.find(handle);
  const std::unique_ptr<Transfer> transfer = std::move(found->second);
  running_.erase(found);
  absl::StatusOr<std::string> outcome = transfer->Outcome(handle, static_cast<CURLcode>(result));
  curl_multi_remove_handle(multi_, handle);
  curl_easy_cleanup(handle);
  transfer->done(std::move(outcome));
}

void Downloads::Wait(Clock::duration at_most) {
  StartNext();
  if (multi_ == nullptr) return;
  int running = 0, left = 0;
  curl_multi_perform(multi_, &running);
  const size_t before = running_.size();
  if (running == static_cast<int>(before)) {
    curl_multi_poll(multi_, nullptr, 0, static_cast<int>(std::min<long>(Milliseconds(at_most), 60'000)),
                    nullptr);
    curl_multi_perform(multi_, &running);
  }
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) Finish(message->easy_handle, message->data.result);
  }
}

void Downloads::Wake() {
  if (multi_ != nullptr) curl_multi_wakeup(multi_);
}

}  // namespace fairlead::jwks
