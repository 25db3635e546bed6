#include "fetch/web_request.h"

#include <curl/curl.h>
#include <unistd.h>

#include <memory>

#include "base/strings.h"

namespace fairlead::fetch {
namespace {

constexpr long kConnectMilliseconds = 3000;
constexpr size_t kMostHeaderBytes = 64 << 10;

// A request under way, as libcurl calls it back.
struct Exchange {
  const WebRequest& request;
  WebAnswer answer = {};
  size_t header_bytes = 0;
  bool too_long = false;
  std::string blocked_address = {};

  static size_t TakeBody(char* data, size_t size, size_t count, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    exchange.too_long |= exchange.answer.body.size() + size * count > exchange.request.most_bytes;
    if (exchange.too_long) return 0;  // ends the transfer
    exchange.answer.body.append(data, size * count);
    return size * count;
  }
  static size_t TakeHeader(char* data, size_t size, size_t count, void* self) {
    static_cast<Exchange*>(self)->AddHeader({data, size * count});
    return size * count;
  }
  void AddHeader(std::string_view line) {
    if (line.starts_with("HTTP/")) {  // another answer begins: that of a redirect's target
      answer.headers.clear();
      header_bytes = 0;
    }
    const size_t colon = line.find(':');
    header_bytes += line.size();
    if (colon == std::string_view::npos || header_bytes > kMostHeaderBytes) return;
    answer.headers.emplace_back(AsciiLower(line.substr(0, colon)), Trim(line.substr(colon + 1)));
  }
  static curl_socket_t Open(void* self, curlsocktype, curl_sockaddr* address) {
    auto& exchange = *static_cast<Exchange*>(self);
    if (exchange.request.blocked != nullptr) {
      exchange.blocked_address = exchange.request.blocked->Blocks(address->addr);
      if (!exchange.blocked_address.empty()) return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }
  static int Progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Exchange*>(self)->Stopping() ? 1 : 0;
  }
  bool Stopping() const { return request.stopping != nullptr && *request.stopping; }

  void Configure(CURL* curl, curl_slist* headers);
  absl::StatusOr<WebAnswer> Outcome(CURL* curl, CURLcode code);
};

void Exchange::Configure(CURL* curl, curl_slist* headers) {
  const auto set = [curl](CURLoption option, auto value) { curl_easy_setopt(curl, option, value); };
  const bool plain = IsOfThisMachine(request.url) ||
                     (request.plaintext && EqualsIgnoreCase(request.url.substr(0, 5), "http:"));
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, plain ? "http" : "https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, !plain ? "https" : request.plaintext ? "http,https" : "http");
  set(CURLOPT_FOLLOWLOCATION, request.most_redirects > 0 ? 1L : 0L);
  set(CURLOPT_MAXREDIRS, static_cast<long>(request.most_redirects));
  if (!request.roots_file.empty()) set(CURLOPT_CAINFO, request.roots_file.c_str());
  set(CURLOPT_SSL_VERIFYPEER, request.unverified ? 0L : 1L);
  set(CURLOPT_SSL_VERIFYHOST, request.unverified ? 0L : 2L);
  set(CURLOPT_HTTPHEADER, headers);
  if (request.body) {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    set(CURLOPT_POSTFIELDS, request.body->c_str());
  }
  set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_WRITEFUNCTION, &Exchange::TakeBody);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_HEADERFUNCTION, &Exchange::TakeHeader);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_OPENSOCKETFUNCTION, &Exchange::Open);
  set(CURLOPT_OPENSOCKETDATA, this);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &Exchange::Progress);
  set(CURLOPT_XFERINFODATA, this);
}

absl::StatusOr<WebAnswer> Exchange::Outcome(CURL* curl, CURLcode code) {
  if (too_long)
    return absl::ResourceExhaustedError(StrCat("the answer has more than ", request.most_bytes, " bytes"));
  if (!blocked_address.empty())
    return absl::PermissionDeniedError(StrCat("nothing may be fetched from ", blocked_address));
  if (Stopping()) return absl::CancelledError("stopped");
  if (code != CURLE_OK) return absl::UnavailableError(curl_easy_strerror(code));
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  const char* address = nullptr;
  curl_easy_getinfo(curl, CURLINFO_PRIMARY_IP, &address);
  if (address != nullptr) answer.address = address;
  return std::move(answer);
}

}  // namespace

bool IsOfThisMachine(std::string_view url) {
  return url.starts_with("http://127.0.0.1:") || url.starts_with("http://localhost:") ||
         url.starts_with("http://[::1]:");
}

absl::StatusOr<WebAnswer> Ask(const WebRequest& request) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
  if (ready != CURLE_OK || curl == nullptr) return absl::InternalError("libcurl cannot be used");
  curl_slist* headers = nullptr;
  for (const std::string& header : request.headers) headers = curl_slist_append(headers, header.c_str());
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> owned(headers, curl_slist_free_all);
  Exchange exchange{request};
  exchange.Configure(curl.get(), headers);
  return exchange.Outcome(curl.get(), curl_easy_perform(curl.get()));
}

}  // namespace fairlead::fetch
