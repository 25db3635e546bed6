#include "ca/web_request.h"

#include <curl/curl.h>

#include <memory>

namespace fairlead::ca {
namespace {

constexpr long kConnectMilliseconds = 3000;

struct Body {
  std::string text;
  size_t most;

  static size_t Take(char* data, size_t size, size_t count, void* self) {
    auto& body = *static_cast<Body*>(self);
    if (body.text.size() + size * count > body.most) return 0;  // ends the transfer
    body.text.append(data, size * count);
    return size * count;
  }
};

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
  Body body{{}, request.most_bytes};
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(curl.get(), option, value); };
  const char* const protocol = IsOfThisMachine(request.url) ? "http" : "https";
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, protocol);
  set(CURLOPT_REDIR_PROTOCOLS_STR, protocol);
  set(CURLOPT_FOLLOWLOCATION, request.most_redirects > 0 ? 1L : 0L);
  set(CURLOPT_MAXREDIRS, static_cast<long>(request.most_redirects));
  if (!request.roots_file.empty()) set(CURLOPT_CAINFO, request.roots_file.c_str());
  set(CURLOPT_HTTPHEADER, headers);
  if (request.body) {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    set(CURLOPT_POSTFIELDS, request.body->c_str());
  }
  set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_WRITEFUNCTION, &Body::Take);
  set(CURLOPT_WRITEDATA, &body);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) return absl::UnavailableError(curl_easy_strerror(code));
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  return WebAnswer{static_cast<int>(status), std::move(body.text)};
}

}  // namespace fairlead::ca
