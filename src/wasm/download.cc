#include "wasm/download.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/strings.h"
#include "wasm/unbox.h"

namespace fairlead::wasm {
namespace {

using std::chrono::milliseconds;

constexpr int kMostRedirects = 5;

// Trouble that may pass. Of the statuses from 500 on, these say that it will not.
bool MayPass(int status) { return status >= 500 && status != 501 && status != 505 && status != 511; }

// "host:port" of a URL.
std::string HostOf(std::string_view url) {
  const size_t start = url.find("://");
  if (start == std::string_view::npos) return "";
  url.remove_prefix(start + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const size_t user = url.rfind('@');
  return std::string(user == std::string_view::npos ? url : url.substr(user + 1));
}

}  // namespace

// Gives false where there is no time left.
bool Download::Wait(milliseconds wait) const {
  constexpr milliseconds kLook{20};
  const Clock::time_point until = Clock::now() + wait;
  if (until >= deadline_) return false;
  while (!stopping_ && Clock::now() < until) std::this_thread::sleep_for(kLook);
  return !stopping_;
}

absl::StatusOr<fetch::WebAnswer> Download::AskOnce(fetch::WebRequest request) const {
  return AskOnceBut(options_.blocked, std::move(request));
}

absl::StatusOr<fetch::WebAnswer> Download::AskOnceBut(const fetch::BlockedAddresses& blocked,
                                                      fetch::WebRequest request) const {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now());
  if (left.count() <= 0) return absl::DeadlineExceededError(StrCat(request.url, ": no time left"));
  request.timeout = std::min(options_.timeout, left);
  request.most_redirects = kMostRedirects;
  request.blocked = &blocked;
  request.stopping = &stopping_;
  request.roots_file = options_.roots_file;
  auto answer = fetch::Ask(request);
  if (answer.ok()) return answer;
  return absl::Status(answer.status().code(), StrCat(request.url, ": ", FromAbsl(answer.status().message())));
}

absl::StatusOr<fetch::WebAnswer> Download::Ask(const fetch::WebRequest& request) const {
  return AskBut(options_.blocked, request);
}

absl::StatusOr<fetch::WebAnswer> Download::AskOutside(const fetch::WebRequest& request) const {
  fetch::BlockedAddresses blocked = options_.blocked;
  blocked.BlockRanges(options_.inside);
  return AskBut(blocked, request);
}

bool Download::IsInside(const std::string& address) const {
  const auto ip = IpAddress::Parse(address);
  return ip && fetch::BlockedAddresses(options_.inside).Contain(*ip);
}

absl::StatusOr<fetch::WebAnswer> Download::AskBut(const fetch::BlockedAddresses& blocked,
                                                  const fetch::WebRequest& request) const {
  milliseconds wait = options_.first_wait;
  for (int attempt = 1;; ++attempt, wait *= 2) {
    auto answer = AskOnceBut(blocked, request);
    const bool away = answer.ok() ? MayPass(answer->status) : absl::IsUnavailable(answer.status());
    if (!away || attempt >= options_.attempts || !Wait(wait)) return answer;
  }
}

absl::StatusOr<std::string> DownloadModule(const Download& download, const std::string& url) {
  const DownloadOptions& options = download.options();
  auto answer = download.Ask({.url = url,
                              .most_bytes = options.most_bytes,
                              .plaintext = true,
                              .unverified = options.IsInsecure(HostOf(url))});
  if (!answer.ok()) return answer.status();
  if (answer->status != 200)
    return absl::UnavailableError(StrCat(url, ": the answer is status ", answer->status));
  auto module = Unbox(std::move(answer->body), options.most_bytes);
  if (module.ok()) return module;
  return absl::Status(module.status().code(), StrCat(url, ": ", FromAbsl(module.status().message())));
}

}  // namespace fairlead::wasm
