#include "ca/authority.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/strings.h"
#include "ca/issue.h"
#include "ca/signing_request.h"

namespace fairlead::ca {
namespace {

constexpr int64_t kClockSkew = 120;  // seconds that a client's clock may be behind

Signed Failed(Signed::Error error, std::string message) { return {error, std::move(message), {}, {}}; }

}  // namespace

std::string_view LabelOf(Signed::Error error) {
  switch (error) {
    case Signed::Error::kNone:
      return "";
    case Signed::Error::kUnavailable:
      return "CA_NOT_READY";
    case Signed::Error::kCsr:
      return "CSR_ERROR";
    case Signed::Error::kLifetime:
      return "TTL_ERROR";
    case Signed::Error::kFailed:
      return "CERT_GEN_ERROR";
  }
  return "";
}

absl::StatusCode CodeOf(Signed::Error error) {
  switch (error) {
    case Signed::Error::kNone:
      return absl::StatusCode::kOk;
    case Signed::Error::kUnavailable:
      return absl::StatusCode::kUnavailable;
    case Signed::Error::kCsr:
    case Signed::Error::kLifetime:
      return absl::StatusCode::kInvalidArgument;
    case Signed::Error::kFailed:
      return absl::StatusCode::kInternal;
  }
  return absl::StatusCode::kInternal;
}

int64_t UnixNow() { return time(nullptr); }

void Authority::Replace(const BundlePtr& bundle) {
  auto pems = std::make_shared<Pems>();
  for (const CertificatePtr& one : bundle->chain) pems->chain.push_back(CertificatePem(one));
  pems->roots = CertificatePems(bundle->roots);
  std::vector<std::function<void(const BundlePtr&)>> followers;
  {
    std::lock_guard lock(mutex_);
    bundle_ = bundle;
    pems_ = std::move(pems);
    followers = followers_;
  }
  for (const auto& follower : followers) follower(bundle);
}

BundlePtr Authority::bundle() const {
  std::lock_guard lock(mutex_);
  return bundle_;
}

void Authority::Follow(std::function<void(const BundlePtr&)> follower) {
  std::lock_guard lock(mutex_);
  followers_.push_back(std::move(follower));
}

absl::StatusOr<CertificatePtr> Authority::IssueFor(const Bundle& bundle, const KeyPtr& public_key,
                                                   const std::vector<std::string>& names, bool common_name,
                                                   std::chrono::seconds lifetime) const {
  const int64_t now = options_.now(), end = NotAfter(bundle.certificate);
  if (now >= end) return absl::FailedPreconditionError("the signing certificate has expired");
  CertificateSubject subject;
  subject.names = names;
  subject.common_name = common_name;
  subject.not_before = now - kClockSkew;
  subject.not_after = std::min(now + lifetime.count(), end);
  return Issue(bundle.certificate, bundle.key, public_key, subject);
}

Signed Authority::Sign(const SignRequest& request) {
  BundlePtr bundle;
  std::shared_ptr<const Pems> pems;
  {
    std::lock_guard lock(mutex_);
    bundle = bundle_;
    pems = pems_;
  }
  if (bundle == nullptr) return Failed(Signed::Error::kUnavailable, "the authority is not ready");
  const auto csr = ReadSigningRequest(request.csr);
  if (!csr.ok()) return Failed(Signed::Error::kCsr, std::string(csr.status().message()));
  if (request.lifetime > options_.max_lifetime) {
    return Failed(Signed::Error::kLifetime,
                  StrCat("a lifetime of ", request.lifetime.count(), "s is asked for, and at most ",
                         options_.max_lifetime.count(), "s are given"));
  }
  const auto lifetime = request.lifetime.count() <= 0 ? options_.default_lifetime : request.lifetime;
  const auto made = IssueFor(*bundle, csr->public_key, request.identities, csr->has_common_name, lifetime);
  if (!made.ok()) return Failed(Signed::Error::kFailed, std::string(made.status().message()));
  Signed out;
  out.chain.push_back(CertificatePem(*made));
  out.chain.insert(out.chain.end(), pems->chain.begin(), pems->chain.end());
  out.roots = pems->roots;
  return out;
}

absl::StatusOr<KeyAndChain> Authority::MakeKeyAndChain(const std::vector<std::string>& names,
                                                       std::chrono::seconds lifetime) const {
  const BundlePtr bundle = this->bundle();
  if (bundle == nullptr) return absl::UnavailableError("the authority is not ready");
  const auto key = MakeKey(KeyType::kEcdsaP256);
  if (!key.ok()) return key.status();
  const auto made = IssueFor(*bundle, *key, names, /*common_name=*/false, lifetime);
  if (!made.ok()) return made.status();
  return KeyAndChain{PrivateKeyPem(*key), CertificatePem(*made) + CertificatePems(bundle->chain),
                     NotAfter(*made)};
}

}  // namespace fairlead::ca
