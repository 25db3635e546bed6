#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/strings.h"
#include "fetch/transfer.h"

// How libcurl is set for a request.
namespace fairlead::fetch {
namespace {

using Url = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

bool Names(const std::string& header, std::string_view name) {
  return EqualsIgnoreCase(std::string_view(header).substr(0, header.find(':')), name);
}

// Adds roots to the system's.
CURLcode AddRoots(CURL*, void* context, void* file) {
  SSL_CTX_load_verify_locations(static_cast<SSL_CTX*>(context), static_cast<const char*>(file), nullptr);
  return CURLE_OK;  // roots that cannot be read verify nobody
}

// A peer that went away without a word is noticed within a minute or so, by the kernel alone.
int SetSocket(void*, curl_socket_t socket, curlsocktype) {
  const unsigned int unanswered_ms = 60'000;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
  return CURL_SOCKOPT_OK;
}

curl_blob BlobOf(const std::string& bytes) {
  return {const_cast<char*>(bytes.data()), bytes.size(), CURL_BLOB_NOCOPY};
}

std::string PartOf(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  std::string copy = text;
  curl_free(text);
  return copy;
}

}  // namespace

absl::Status Transfer::Prepare() {
  if (!ready_.ok()) return ready_;
  curl_ = curl_easy_init();
  if (curl_ == nullptr) return absl::ResourceExhaustedError("no memory for libcurl");
  if (absl::Status status = SetTarget(); !status.ok()) return status;
  SetRequest();
  SetTls();
  SetConnection();
  SetCallbacks();
  return absl::OkStatus();
}

// A server's other name takes the place of the host, which is where the connection still leads.
absl::Status Transfer::SetTarget() {
  const bool plain = IsOfThisMachine(request_.url) ||
                     (request_.plaintext && EqualsIgnoreCase(request_.url.substr(0, 5), "http:"));
  Set(CURLOPT_PROTOCOLS_STR, plain ? "http" : "https");
  Set(CURLOPT_REDIR_PROTOCOLS_STR, !plain ? "https" : request_.plaintext ? "http,https" : "http");
  const bool follow = request_.most_redirects > 0 && request_.tls.server_name.empty();
  Set(CURLOPT_FOLLOWLOCATION, follow ? 1L : 0L);
  Set(CURLOPT_MAXREDIRS, static_cast<long>(request_.most_redirects));  // NOLINT: libcurl's type
  if (request_.tls.server_name.empty()) {
    Set(CURLOPT_URL, request_.url.c_str());
    return absl::OkStatus();
  }
  const Url url(curl_url(), curl_url_cleanup);
  if (url == nullptr || curl_url_set(url.get(), CURLUPART_URL, request_.url.c_str(), 0) != CURLUE_OK)
    return absl::InvalidArgumentError(curl_easy_strerror(CURLE_URL_MALFORMAT));
  const std::string host = PartOf(url.get(), CURLUPART_HOST), said = PartOf(url.get(), CURLUPART_PORT);
  const std::string port = PartOf(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (curl_url_set(url.get(), CURLUPART_HOST, request_.tls.server_name.c_str(), 0) != CURLUE_OK)
    return absl::InvalidArgumentError(StrCat(request_.tls.server_name, " is no name of a server"));
  Set(CURLOPT_URL, PartOf(url.get(), CURLUPART_URL).c_str());
  const std::string to = StrCat(request_.tls.server_name, ":", port, ":", host, ":", port);
  connect_to_ = curl_slist_append(nullptr, to.c_str());
  Set(CURLOPT_CONNECT_TO, connect_to_);
  headers_to_send_ =
      curl_slist_append(headers_to_send_, StrCat("Host: ", host, said.empty() ? "" : ":", said).c_str());
  return absl::OkStatus();
}

void Transfer::SetRequest() {
  const auto add = [this](const std::string& header) {
    headers_to_send_ = curl_slist_append(headers_to_send_, header.c_str());
  };
  bool agent = false;
  for (const std::string& header : request_.headers) {
    agent |= Names(header, "user-agent");
    add(header);
  }
  if (!agent) add("User-Agent: fairlead");
  if (!token_.empty()) add(StrCat("Authorization: Bearer ", token_));
  if (request_.body) {
    add("Expect:");  // nobody waits for leave to send
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body->size()));
    Set(CURLOPT_POSTFIELDS, request_.body->c_str());
  }
  if (request_.method == "HEAD") {
    Set(CURLOPT_NOBODY, 1L);
  } else if (request_.method != (request_.body ? "POST" : "GET")) {
    Set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
  Set(CURLOPT_HTTPHEADER, headers_to_send_);
  if (request_.compressed) Set(CURLOPT_ACCEPT_ENCODING, "gzip");
}

void Transfer::SetTls() {
  const TlsSettings& tls = request_.tls;
  Set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));  // NOLINT: libcurl's type
  Set(CURLOPT_SSL_VERIFYPEER, tls.unverified ? 0L : 1L);
  Set(CURLOPT_SSL_VERIFYHOST, tls.unverified ? 0L : 2L);
  if (!tls.roots.empty() || !tls.roots_file.empty()) {
    curl_blob roots = BlobOf(tls.roots);
    if (tls.roots.empty()) {
      Set(CURLOPT_CAINFO, tls.roots_file.c_str());
    } else {
      Set(CURLOPT_CAINFO_BLOB, &roots);
    }
    Set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));  // the system's would count besides
  }
  if (!tls.more_roots_file.empty()) {
    Set(CURLOPT_SSL_CTX_FUNCTION, &AddRoots);
    Set(CURLOPT_SSL_CTX_DATA, const_cast<char*>(tls.more_roots_file.c_str()));
  }
  if (tls.certificate.empty()) return;
  curl_blob certificate = BlobOf(tls.certificate), key = BlobOf(tls.key);
  Set(CURLOPT_SSLCERT_BLOB, &certificate);
  Set(CURLOPT_SSLKEY_BLOB, &key);
}

void Transfer::SetConnection() {
  const bool tls = EqualsIgnoreCase(std::string_view(request_.url).substr(0, 6), "https:");
  long version = CURL_HTTP_VERSION_1_1;  // NOLINT: libcurl's type
  const bool newer = request_.version == HttpVersion::kAny && (!own_connection_ || request_.own_http2);
  if (newer && tls) version = CURL_HTTP_VERSION_2TLS;
  Set(CURLOPT_HTTP_VERSION, version);
  Set(CURLOPT_PIPEWAIT, version == CURL_HTTP_VERSION_1_1 ? 0L : 1L);
  Set(CURLOPT_FRESH_CONNECT, own_connection_ ? 1L : 0L);
  Set(CURLOPT_FORBID_REUSE, own_connection_ ? 1L : 0L);
  if (request_.proxy) Set(CURLOPT_PROXY, request_.proxy->c_str());
  if (!request_.local_address.empty())
    Set(CURLOPT_INTERFACE, StrCat("host!", request_.local_address).c_str());
  Set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  const auto connect_ms = std::max<int64_t>(1, request_.connect_limit.count());
  Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_ms));  // NOLINT: libcurl's type
  if (request_.blocked != nullptr) Set(CURLOPT_DNS_CACHE_TIMEOUT, 0L);
  Set(CURLOPT_QUICK_EXIT, 1L);  // to cancel waits for no look-up of a name
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_TCP_KEEPALIVE, 1L);
  Set(CURLOPT_TCP_KEEPIDLE, 30L);
  Set(CURLOPT_TCP_KEEPINTVL, 15L);
}

void Transfer::SetCallbacks() {
  Set(CURLOPT_PRIVATE, static_cast<void*>(this));
  Set(CURLOPT_ERRORBUFFER, detail_.data());
  Set(CURLOPT_WRITEFUNCTION, &Transfer::TakeBody);
  Set(CURLOPT_WRITEDATA, this);
  Set(CURLOPT_HEADERFUNCTION, &Transfer::TakeHeader);
  Set(CURLOPT_HEADERDATA, this);
  Set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::Open);
  Set(CURLOPT_OPENSOCKETDATA, this);
  Set(CURLOPT_SOCKOPTFUNCTION, &SetSocket);
  Set(CURLOPT_PREREQFUNCTION, &Transfer::Connected);
  Set(CURLOPT_PREREQDATA, this);
}

}  // namespace fairlead::fetch
