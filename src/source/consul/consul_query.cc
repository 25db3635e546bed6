#include "source/consul/consul_query.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "base/excerpt.h"
#include "base/strings.h"

namespace fairlead::source {
namespace {

constexpr size_t kMostQuoted = 200;
constexpr std::chrono::milliseconds kMostRetryAfter{300'000};
const std::string kConsistent = "consistent";

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
  std::vector<std::string> parameters;
  const std::string& consistency = doubtful_ ? kConsistent : consistency_;
  if (consistency != "default") parameters.push_back(consistency);
  if (index_ > 0) parameters.push_back(StrCat("index=", index_, "&wait=", wait.count(), "ms"));
  const bool first = path_.ends_with('?') || parameters.empty();
  return StrCat(path_, first ? "" : "&", Join(parameters, "&"));
}

// Whoever answers next may be another server, or the same after a restart: only a whole answer shows at once
// that it is there, and with what.
ConsulQuery::Verdict ConsulQuery::Fail(std::string why, Milliseconds at_least) {
  index_ = 0;
  trouble_ = std::move(why);
  pause_ = std::max(backoff_.Next(), std::min(at_least, kMostRetryAfter));
  return Verdict::kFailed;
}

void ConsulQuery::Reject(std::string why) { Fail(std::move(why)); }

void ConsulQuery::Accept() {
  backoff_.Reset();
  trouble_.clear();
  answered_ = true;
}

// An index that went back, or is none: the server is behind the others, or all began anew. The leader knows.
// An answer of a server that knows no leader may lack everything, and counts as none.
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
  doubtful_ = index < known_ && !doubtful_;
  if (doubtful_) {
    index_ = 0;
    pause_ = Milliseconds(0);
    return Verdict::kBehind;
  }
  const bool same = found && answered_ && index_ > 0 && index == index_;
  index_ = known_ = index;
  lag_ = Milliseconds(
      std::min<uint64_t>(NumberOf(HeaderOf(answer, "x-consul-lastcontact")).value_or(0), 1U << 30));
  // Without an index nothing can be waited for.
  pause_ = index == 0 ? Milliseconds(10'000) : Milliseconds(0);
  if (!found) return Verdict::kNotFound;
  return same ? Verdict::kSame : Verdict::kNews;
}

}  // namespace fairlead::source
