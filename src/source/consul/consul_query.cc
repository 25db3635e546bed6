#include "source/consul/consul_query.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/excerpt.h"
#include "base/strings.h"

namespace fairlead::source {
namespace {

constexpr size_t kMostQuoted = 200;
constexpr std::chrono::milliseconds kMostRetryAfter{300'000};

std::string_view HeaderOf(const fetch::WholeAnswer& answer, std::string_view name) {
  for (const auto& [key, value] : answer.headers) {
    if (key == name) return value;
  }
  return "";
}

std::optional<uint64_t> NumberOf(std::string_view text) {
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string ConsulQuery::Target(Milliseconds wait) const {
  if (index_ == 0) return path_;
  const char last = path_.back();
  return StrCat(path_, last == '?' || last == '&' ? "" : "&", "index=", index_, "&wait=", wait.count(), "ms");
}

ConsulQuery::Verdict ConsulQuery::Fail(std::string why, Milliseconds at_least) {
  trouble_ = std::move(why);
  pause_ = std::max(backoff_.Next(), std::min(at_least, kMostRetryAfter));
  return Verdict::kFailed;
}

void ConsulQuery::Reject(std::string why) {
  index_ = 0;
  Fail(std::move(why));
}

void ConsulQuery::Accept() {
  backoff_.Reset();
  trouble_.clear();
  answered_ = true;
}

// An index that went back, or is none, says that the server began anew: then all of it is asked for again, at
// once. An answer of a server that knows no leader may lack everything, and counts as none.
ConsulQuery::Verdict ConsulQuery::TakeAnswer(const fetch::WholeAnswer& answer) {
  const fetch::Outcome& outcome = answer.outcome;
  http_status_ = outcome.status.ok() ? outcome.http_status : 0;
  if (!outcome.status.ok()) return Fail(std::string(FromAbsl(outcome.status.message())));
  const bool found = outcome.http_status == 200;
  if (!found && outcome.http_status != 404) {
    const Milliseconds at_least = outcome.retry_after.value_or(std::chrono::seconds(0));
    return Fail(StrCat("status ", outcome.http_status, " ", Excerpt(Trim(answer.body), kMostQuoted)),
                at_least);
  }
  // An agent's streamed view is a whole one, and always says that it knows no leader.
  if (HeaderOf(answer, "x-consul-knownleader") == "false" &&
      HeaderOf(answer, "x-consul-query-backend") != "streaming")
    return Fail("the server knows no leader");
  const uint64_t index = NumberOf(HeaderOf(answer, "x-consul-index")).value_or(0);
  const bool same = found && answered_ && index_ > 0 && index == index_;
  index_ = index < index_ ? 0 : index;
  lag_ = Milliseconds(
      std::min<uint64_t>(NumberOf(HeaderOf(answer, "x-consul-lastcontact")).value_or(0), 1U << 30));
  // Without an index nothing can be waited for.
  pause_ = index == 0 ? Milliseconds(10'000) : Milliseconds(0);
  if (!found) return Verdict::kNotFound;
  return same ? Verdict::kSame : Verdict::kNews;
}

}  // namespace fairlead::source
