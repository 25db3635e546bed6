#include "ca/token_key_source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "ca/secret_file.h"
#include "fetch/web_request.h"

namespace fairlead::ca {
namespace {

LogScope jwt_log("jwks");

constexpr int kMostRedirects = 3;

std::chrono::milliseconds WithJitter(std::chrono::milliseconds wait) {
  thread_local std::mt19937 random{std::random_device{}()};
  std::uniform_real_distribution<double> factor(0.9, 1.1);
  return std::chrono::milliseconds(static_cast<int64_t>(static_cast<double>(wait.count()) * factor(random)));
}

}  // namespace

absl::StatusOr<std::string> FetchDocument(const std::string& url) {
  if (!fetch::IsOfThisMachine(url) && !url.starts_with("https://"))
    return absl::InvalidArgumentError(StrCat(url, ": only https is fetched"));
  auto answer = fetch::Ask({.url = url, .most_redirects = kMostRedirects});
  if (!answer.ok())
    return absl::Status(answer.status().code(), StrCat(url, ": ", FromAbsl(answer.status().message())));
  if (answer->status >= 400)
    return absl::UnavailableError(StrCat(url, ": the answer is status ", answer->status));
  return std::move(answer->body);
}

TokenKeySource::~TokenKeySource() { Stop(); }

void TokenKeySource::Start() {
  thread_ = RequireThread([this] { Run(); });
}

void TokenKeySource::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  watch_.Wake();
  if (thread_.joinable()) thread_.join();
}

TokenKeysPtr TokenKeySource::Keys(bool unknown) {
  std::lock_guard lock(mutex_);
  asked_ |= unknown;
  if (unknown) wake_.notify_all();
  return keys_;
}

absl::StatusOr<std::string> TokenKeySource::Read() const {
  if (!options_.file.empty()) return ReadSecretFile(options_.file);
  std::string issuer = options_.issuer;
  while (issuer.ends_with('/')) issuer.pop_back();
  auto document = options_.fetch(StrCat(issuer, "/.well-known/openid-configuration"));
  if (!document.ok()) return document.status();
  const auto parsed = ParseJson(*document);
  if (!parsed || !parsed->is_object())
    return absl::InvalidArgumentError(StrCat(issuer, ": no discovery document"));
  // Else anybody's document could be shown for it. OpenID Connect Discovery, 4.3
  if (JsonString(*parsed, "issuer") != options_.issuer)
    return absl::InvalidArgumentError(StrCat(issuer, ": the discovery document is of another issuer"));
  return options_.fetch(JsonString(*parsed, "jwks_uri"));
}

// Of keys that are made here none may be there yet.
bool TokenKeySource::IsMissing() const {
  return options_.own && access(options_.file.c_str(), F_OK) != 0 && errno == ENOENT;
}

absl::Status TokenKeySource::Refresh() {
  if (IsMissing()) {
    text_.clear();
    std::lock_guard lock(mutex_);
    keys_ = nullptr;
    return absl::OkStatus();
  }
  if (options_.own) {
    const absl::Status status = CheckPrivate(options_.file.substr(0, options_.file.rfind('/')));
    if (!status.ok()) return status;
  }
  auto text = Read();
  if (!text.ok()) return text.status();
  if (*text == text_) return absl::OkStatus();
  auto keys = ReadTokenKeys(*text);
  if (!keys.ok()) return keys.status();
  text_ = *std::move(text);
  std::lock_guard lock(mutex_);
  keys_ = std::make_shared<const TokenKeys>(*std::move(keys));
  return absl::OkStatus();
}

absl::Status TokenKeySource::RefreshAndLog() {
  const absl::Status status = Refresh();
  const std::string why(status.message());
  if (!status.ok() && why != broken_) jwt_log.Warn("keys of {}: {}", options_.issuer, why);
  broken_ = why;
  return status;
}

void TokenKeySource::FollowFile() {
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    watch_.Watch({options_.file});  // before it is read, so that no change is missed
    const bool usable = RefreshAndLog().ok();
    watch_.Wait(usable ? Clock::time_point::max() : Clock::now() + options_.retry);
  }
}

void TokenKeySource::Run() {
  using std::chrono::milliseconds;
  if (!options_.file.empty()) return FollowFile();
  milliseconds after_error = options_.least_wait;
  for (;;) {
    const bool read = RefreshAndLog().ok();
    after_error = read ? options_.least_wait : std::min(2 * after_error, options_.refresh);
    const milliseconds wait = WithJitter(read ? options_.refresh : after_error);
    std::unique_lock lock(mutex_);
    asked_ = false;
    if (wake_.wait_for(lock, std::min(wait, options_.least_wait), [this] { return stopping_; })) return;
    // From here on, one whose key is not known may end the wait.
    if (wake_.wait_for(lock, wait - std::min(wait, options_.least_wait),
                       [this] { return stopping_ || asked_; }) &&
        stopping_)
      return;
  }
}

}  // namespace fairlead::ca
