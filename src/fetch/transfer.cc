#include "fetch/transfer.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <functional>
#include <utility>

#include "base/strings.h"

namespace fairlead::fetch {
namespace {

constexpr size_t kMostHeaderBytes = 64 << 10;
constexpr int64_t kMostRetryAfter = 24 * 60 * 60;

std::optional<Clock::time_point> Earlier(std::optional<Clock::time_point> one, Clock::time_point other) {
  return one ? std::min(*one, other) : other;
}

}  // namespace

Transfer::Transfer(Exchanges& exchanges, Client::Handle handle, Request request, Target target,
                   absl::Status ready, std::string token)
    : exchanges_(exchanges),
      handle_(handle),
      request_(std::move(request)),
      target_(std::move(target)),
      ready_(std::move(ready)),
      token_(std::move(token)),
      pass_(std::make_shared<Gate::Pass>()),
      own_connection_(request_.own_connection || !request_.tls.more_roots_file.empty()),
      started_(Clock::now()) {}

Transfer::~Transfer() {
  if (curl_ != nullptr) curl_easy_cleanup(curl_);
  curl_slist_free_all(headers_to_send_);
  curl_slist_free_all(connect_to_);
}

std::optional<Clock::time_point> Transfer::Deadline() const {
  std::optional<Clock::time_point> next;
  if (outcome_) return next;
  if (!heard_) next = started_ + request_.connect_limit;
  if (heard_ && request_.idle_limit.count() > 0 && !exchanges_.gate.IsPaused(*pass_))
    next = *heard_ + request_.idle_limit;
  if (request_.whole_limit.count() > 0) next = Earlier(next, started_ + request_.whole_limit);
  return next;
}

absl::Status Transfer::Late(Clock::time_point now) const {
  if (request_.whole_limit.count() > 0 && now >= started_ + request_.whole_limit)
    return absl::DeadlineExceededError(
        StrCat("no whole answer within ", request_.whole_limit.count(), " ms"));
  if (!heard_)
    return absl::DeadlineExceededError(
        StrCat("no connection within ", request_.connect_limit.count(), " ms"));
  return absl::DeadlineExceededError(StrCat("no byte within ", request_.idle_limit.count(), " ms"));
}

// --- What libcurl calls

size_t Transfer::TakeBody(char* data, size_t size, size_t count, void* self) {
  return static_cast<Transfer*>(self)->Take({data, size * count});
}

size_t Transfer::TakeHeader(char* data, size_t size, size_t count, void* self) {
  static_cast<Transfer*>(self)->AddHeader({data, size * count});
  return size * count;
}

// What Request::blocked points to may be gone as soon as the exchange is cancelled.
bool Transfer::IsBlocked(const std::optional<IpAddress>& address, int port) {
  const bool goes_on = exchanges_.gate.Run(*pass_, [&] {
    if (request_.blocked != nullptr) blocked_ = request_.blocked->Blocks(address, port);
  });
  return !goes_on || !blocked_.empty();
}

curl_socket_t Transfer::Open(void* self, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (transfer.IsBlocked(AddressOf(address->addr), PortOf(address->addr))) return CURL_SOCKET_BAD;
  ++transfer.exchanges_.connections;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Before each request, over a connection of before as well.
int Transfer::Connected(void* self, char* address, char*, int port, int) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.heard_ = Clock::now();
  transfer.exchanges_.connected.push_back(transfer.handle_);
  if (transfer.request_.blocked == nullptr) return CURL_PREREQFUNC_OK;
  return transfer.IsBlocked(IpAddress::Parse(address), port) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

void Transfer::AddHeader(std::string_view line) {
  heard_ = Clock::now();
  if (shown_) return;  // a trailer
  if (line.starts_with(
          "HTTP/")) {  // another answer begins: the one after a redirect, or after an interim one
    headers_.clear();
    header_bytes_ = 0;
    long status = 0;  // NOLINT: libcurl's type
    curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
    status_ = static_cast<int>(status);
    return;
  }
  if (line == "\r\n" || line == "\n") {
    if (status_ >= 200 && !LeadsOn()) ShowHeaders();
    return;
  }
  const size_t colon = line.find(':');
  header_bytes_ += line.size();
  if (colon == std::string_view::npos || header_bytes_ > kMostHeaderBytes) return;
  headers_.emplace_back(AsciiLower(line.substr(0, colon)), Trim(line.substr(colon + 1)));
}

// Whether the answer is a redirect that is followed.
bool Transfer::LeadsOn() const {
  if (request_.most_redirects <= 0 || status_ < 300 || status_ > 399) return false;
  return std::any_of(headers_.begin(), headers_.end(),
                     [](const auto& header) { return header.first == "location" && !header.second.empty(); });
}

size_t Transfer::Take(std::string_view bytes) {
  heard_ = Clock::now();
  exchanges_.bytes += bytes.size();
  too_long_ |= bytes.size() > request_.most_bytes - body_bytes_;
  if (too_long_ || !ShowHeaders() || !ShowHeld()) return BreakOff();
  if (bytes.empty()) return 0;
  if (!held_.empty() || exchanges_.gate.IsPaused(*pass_)) return Hold(bytes);
  body_bytes_ += bytes.size();
  return Show(bytes) ? bytes.size() : BreakOff();
}

// See Loop::Remove.
size_t Transfer::BreakOff() {
  Set(CURLOPT_FORBID_REUSE, 1L);
  return 0;
}

size_t Transfer::Hold(std::string_view bytes) {
  if (held_.size() + bytes.size() > request_.most_held) {
    if (!IsMultiplexed()) {
      stopped_ = true;
      return CURL_WRITEFUNC_PAUSE;  // libcurl gives these bytes again
    }
    too_much_held_ = true;
    return BreakOff();
  }
  body_bytes_ += bytes.size();
  held_.append(bytes);
  return bytes.size();
}

std::optional<size_t> Transfer::Place() const {
  const bool tls = EqualsIgnoreCase(std::string_view(request_.url).substr(0, 6), "https:");
  if (own_connection_ || !tls || request_.version != HttpVersion::kAny) return std::nullopt;
  const std::string_view url = request_.url;
  const size_t host_end = url.find_first_of("/?#", std::string_view("https://").size());
  const TlsSettings& with = request_.tls;
  return std::hash<std::string>()(StrCat(url.substr(0, host_end), "\n", with.roots, "\n", with.roots_file,
                                         "\n", with.certificate, "\n", with.server_name, "\n",
                                         with.unverified ? 1 : 0, "\n", request_.proxy.value_or("\n")));
}

long Transfer::SharedPort() const {  // NOLINT: libcurl's type
  long port = 0;                     // NOLINT
  if (heard_ && !outcome_ && IsMultiplexed()) curl_easy_getinfo(curl_, CURLINFO_LOCAL_PORT, &port);
  return port;
}

void Transfer::Flush() {
  if (stopped_) return;
  curl_easy_pause(curl_, CURLPAUSE_RECV);
  curl_easy_pause(curl_, CURLPAUSE_CONT);
}

bool Transfer::IsMultiplexed() const {
  long version = 0;  // NOLINT: libcurl's type
  curl_easy_getinfo(curl_, CURLINFO_HTTP_VERSION, &version);
  return version != CURL_HTTP_VERSION_1_0 && version != CURL_HTTP_VERSION_1_1;
}

// --- What the observer is told. False: it was cancelled.

bool Transfer::ShowHeaders() {
  if (std::exchange(shown_, true)) return true;
  return exchanges_.gate.Run(*pass_, [&] { target_.observer->OnHeaders(status_, headers_); });
}

bool Transfer::Show(std::string_view bytes) {
  return exchanges_.gate.Run(*pass_, [&] { target_.observer->OnData(bytes); });
}

bool Transfer::ShowHeld() {
  if (held_.empty() || exchanges_.gate.IsPaused(*pass_)) return true;
  const std::string held = std::exchange(held_, {});
  return Show(held);
}

bool Transfer::Done() {
  exchanges_.gate.Run(*pass_, [&] { target_.observer->OnDone(*outcome_); });
  return true;
}

bool Transfer::End(absl::Status status) {
  outcome_ = Outcome{.status = std::move(status), .http_status = status_, .retry_after = RetryAfter()};
  const char* address = nullptr;
  if (curl_ != nullptr) curl_easy_getinfo(curl_, CURLINFO_PRIMARY_IP, &address);
  if (address != nullptr) outcome_->address = address;
  if (outcome_->status.ok() && !ShowHeaders()) return true;
  return Resume();
}

bool Transfer::Resume() {
  if (exchanges_.gate.IsPaused(*pass_)) return false;
  if (!ShowHeld()) return outcome_.has_value();
  if (!outcome_) {
    heard_ = heard_ ? std::optional(Clock::now()) : heard_;
    if (std::exchange(stopped_, false)) curl_easy_pause(curl_, CURLPAUSE_CONT);
    return false;
  }
  return !exchanges_.gate.IsPaused(*pass_) && Done();
}

std::optional<std::chrono::seconds> Transfer::RetryAfter() const {
  for (const auto& [name, value] : headers_) {
    if (name != "retry-after" || value.empty()) continue;
    const bool number = value.size() <= 9 && value.find_first_not_of("0123456789") == std::string::npos;
    const time_t date = number ? -1 : curl_getdate(value.c_str(), nullptr);
    if (!number && date < 0) continue;
    int64_t wait = int64_t{date} - std::time(nullptr);
    if (number) std::from_chars(value.data(), value.data() + value.size(), wait);
    return std::chrono::seconds(std::clamp<int64_t>(wait, 0, kMostRetryAfter));
  }
  return std::nullopt;
}

absl::Status Transfer::StatusOf(CURLcode result) const {
  if (too_long_)
    return absl::ResourceExhaustedError(StrCat("the answer has more than ", request_.most_bytes, " bytes"));
  if (too_much_held_)
    return absl::ResourceExhaustedError(
        StrCat("more than ", request_.most_held, " bytes came before the last ones were taken"));
  if (!blocked_.empty()) return absl::PermissionDeniedError(StrCat("nothing may be fetched from ", blocked_));
  const std::string why = curl_easy_strerror(result);
  switch (result) {
    case CURLE_OK:
      return absl::OkStatus();
    case CURLE_OPERATION_TIMEDOUT:
      return absl::DeadlineExceededError(why);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:  // of a server as well, by a redirect or an answer that is not of HTTP
      return heard_ ? absl::UnavailableError(why) : absl::InvalidArgumentError(why);
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
      return absl::InvalidArgumentError(StrCat(why, ": ", detail_.data()));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_RECV_ERROR:
      return absl::UnavailableError(detail_[0] == '\0' ? why : StrCat(why, ": ", detail_.data()));
    default:
      return absl::UnavailableError(why);
  }
}

}  // namespace fairlead::fetch
