#include "ca/token_review.h"

#include <openssl/evp.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/strings.h"
#include "ca/metrics.h"
#include "ca/token.h"
#include "kube/review.h"
#include "model/spiffe.h"

namespace fairlead::ca {
namespace {

using Time = Clock::time_point;
using Verdict = absl::StatusOr<kube::ReviewedToken>;

constexpr size_t kMostToken = 16 << 10;
constexpr std::string_view kBearer = "bearer ";

absl::Status Refused(std::string_view why) { return absl::UnauthenticatedError(StrCat("the token ", why)); }

// The bearer token of a header; "": there is none.
std::string_view TokenOf(std::string_view header) {
  if (header.size() <= kBearer.size() || !EqualsIgnoreCase(header.substr(0, kBearer.size()), kBearer))
    return "";
  return Trim(header.substr(kBearer.size()));
}

// Whether it can be a service account's at all, by its own words. When it ends, if it says so.
absl::StatusOr<std::optional<int64_t>> CheckForm(std::string_view token, int64_t now) {
  if (token.size() > kMostToken) return Refused("is too long");
  const std::vector<std::string_view> parts = Split(token, '.');
  if (parts.size() != 3) return Refused("is no signed token");
  const auto decoded = DecodeBase64(parts[1]);
  const auto claims = decoded ? ParseJson(*decoded) : std::nullopt;
  if (!claims || !claims->is_object()) return Refused("cannot be read");
  if (!JsonString(*claims, "sub").starts_with("system:serviceaccount:"))
    return Refused("is not of a service account");
  const auto end = claims->find("exp");
  if (end == claims->end() || !end->is_number()) return std::optional<int64_t>();
  const double value = end->get<double>();
  if (!(value >= 0 && value < 1e12)) return Refused("cannot be read");
  if (static_cast<int64_t>(value) <= now) return Refused("has expired");
  return std::optional<int64_t>(static_cast<int64_t>(value));
}

// Tokens are not kept, as they are secrets.
std::string Digest(std::string_view cluster, std::string_view token) {
  const std::string text = StrCat(cluster, "\n", token);
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), out, &size, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(out), size};
}

// Verdicts of a short time. The oldest goes where there are too many.
class Verdicts {
 public:
  Verdicts(size_t most) : most_(most) {}  // NOLINT: implicit

  std::optional<Verdict> Find(const std::string& key, Time now) {
    std::lock_guard lock(mutex_);
    const auto found = kept_.find(key);
    if (found == kept_.end() || found->second.ends <= now) return std::nullopt;
    return found->second.verdict;
  }
  void Keep(const std::string& key, Verdict verdict, Time ends, Time now) {
    std::lock_guard lock(mutex_);
    Erase(key);
    while (!by_end_.empty() && (by_end_.begin()->first <= now || kept_.size() >= most_))
      Erase(std::string(by_end_.begin()->second));
    by_end_.emplace(ends, key);
    kept_.insert_or_assign(key, Kept{std::move(verdict), ends});
  }

 private:
  struct Kept {
    Verdict verdict;
    Time ends;
  };
  void Erase(const std::string& key) {
    const auto found = kept_.find(key);
    if (found == kept_.end()) return;
    for (auto [it, end] = by_end_.equal_range(found->second.ends); it != end; ++it) {
      if (it->second != key) continue;
      by_end_.erase(it);
      break;
    }
    kept_.erase(found);
  }

  const size_t most_;
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;
  std::multimap<Time, std::string> by_end_;
};

class TokenReviewAuthenticator : public Authenticator {
 public:
  TokenReviewAuthenticator(TokenReviewOptions options, TrustDomains trust_domains)
      : options_(std::move(options)),
        trust_domains_(std::move(trust_domains)),
        verdicts_(options_.most_kept) {}

  std::string_view name() const override { return "token review"; }

  bool MayWait(const Credentials& credentials) const override {
    const std::string_view token = TokenOf(credentials.authorization);
    if (token.empty() || !CheckForm(token, options_.now()).ok()) return false;
    return !verdicts_.Find(Digest(ClusterOf(credentials), token), options_.clock());
  }

  absl::StatusOr<std::optional<Caller>> Authenticate(const Credentials& credentials) const override {
    const std::string_view token = TokenOf(credentials.authorization);
    if (token.empty()) return std::nullopt;
    const auto ends = CheckForm(token, options_.now());
    if (!ends.ok()) return ends.status();
    const std::string cluster = ClusterOf(credentials);
    const std::string key = Digest(cluster, token);
    std::optional<Verdict> verdict = verdicts_.Find(key, options_.clock());
    (verdict ? Metrics().token_reviews_kept : Metrics().token_reviews).Add();
    if (!verdict) verdict = Ask(cluster, key, token, *ends);
    if (!verdict->ok()) return verdict->status();
    return CallerOf(**verdict, cluster);
  }

 private:
  std::string ClusterOf(const Credentials& credentials) const {
    return credentials.cluster == options_.own_cluster ? "" : credentials.cluster;
  }

  Verdict Ask(const std::string& cluster, const std::string& key, std::string_view token,
              std::optional<int64_t> token_ends) const {
    const kube::ApiAnswer answer = options_.ask(cluster, kube::TokenReviewRequest(token, options_.audiences));
    if (cluster.empty() || !absl::IsNotFound(answer.status) || answer.http_status != 0) {
      Verdict verdict = kube::ReadTokenReview(answer, options_.audiences);
      // The server refuses us (401), not the token.
      const bool asked = answer.status.ok();
      if (asked && (verdict.ok() || absl::IsUnauthenticated(verdict.status()))) {
        const Time now = options_.clock();
        verdicts_.Keep(key, verdict, now + TimeOf(verdict.ok(), token_ends), now);
        return verdict;
      }
      Metrics().token_review_errors.Add();
      return absl::UnauthenticatedError(
          StrCat("the API server ", cluster.empty() ? "" : StrCat("of cluster ", Excerpt(cluster), " "),
                 "cannot be asked: ", FromAbsl(verdict.status().message())));
    }
    return absl::UnauthenticatedError(answer.status.message());
  }

  // Not beyond the token's own end.
  std::chrono::milliseconds TimeOf(bool good, std::optional<int64_t> token_ends) const {
    if (!good) return options_.keep_bad;
    if (!token_ends) return options_.keep_good;
    return std::min(options_.keep_good, std::chrono::milliseconds(1000 * (*token_ends - options_.now())));
  }

  absl::StatusOr<std::optional<Caller>> CallerOf(const kube::ReviewedToken& token,
                                                 const std::string& cluster) const {
    if (!IsAccountPart(token.ns) || !IsAccountPart(token.service_account))
      return Refused("is not of a service account");
    Caller caller;
    caller.identities = {model::SpiffeId(trust_domains_().front(), token.ns, token.service_account)};
    caller.ns = token.ns;
    caller.service_account = token.service_account;
    caller.pod = token.pod;
    caller.pod_uid = token.pod_uid;
    caller.node = token.node;
    caller.cluster = cluster;
    return caller;
  }

  const TokenReviewOptions options_;
  const TrustDomains trust_domains_;
  mutable Verdicts verdicts_;
};

}  // namespace

std::unique_ptr<Authenticator> NewTokenReviewAuthenticator(TokenReviewOptions options,
                                                           TrustDomains trust_domains) {
  return std::make_unique<TokenReviewAuthenticator>(std::move(options), std::move(trust_domains));
}

}  // namespace fairlead::ca
