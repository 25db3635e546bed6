#include "agent/workload_certificate.h"

#include <openssl/pem.h>

#include <algorithm>
#include <random>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "ca/certificate.h"
#include "ca/openssl.h"
#include "ca/signing_request.h"

namespace fairlead::agent {
namespace {

LogScope cache_log("cache");

// Between `low` and `high`, so that a thousand agents that were started together do not ask together.
double Chance(double low, double high) {
  thread_local std::mt19937 random{std::random_device{}()};
  return std::uniform_real_distribution<double>(low, high)(random);
}

// "RSA PRIVATE KEY", "EC PRIVATE KEY".
std::string TraditionalKeyPem(const ca::KeyPtr& key) {
  const ca::OwnedBio out(BIO_new(BIO_s_secmem()));
  PEM_write_bio_PrivateKey_traditional(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return ca::Written(out.get());
}

}  // namespace

WorkloadCertificate::WorkloadCertificate(WorkloadCertificateOptions options, CaClient* client,
                                         SecretStore* store)
    : options_(std::move(options)), client_(client), store_(store), retry_(options_.first_retry) {}

WorkloadCertificate::~WorkloadCertificate() { Stop(); }

void WorkloadCertificate::Start() {
  thread_ = RequireThread([this] {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      lock.unlock();
      const std::chrono::milliseconds wait = Step();
      lock.lock();
      stop_.wait_for(lock, wait, [this] { return stopping_; });
    }
  });
}

void WorkloadCertificate::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::chrono::milliseconds WorkloadCertificate::Step() {
  using std::chrono::milliseconds;
  const int64_t now = options_.now();
  if (now < renew_at_) {
    // Not longer than this, as clocks are set.
    return std::min<milliseconds>(std::chrono::seconds(renew_at_ - now), std::chrono::minutes(1));
  }
  const absl::Status status = Renew();
  {
    std::lock_guard lock(mutex_);
    difficulty_ = status.ok() || ends_ > now ? "" : StrCat("no certificate: ", FromAbsl(status.message()));
  }
  if (status.ok()) {
    retry_ = options_.first_retry;
    by_earlier_ = true;
    return milliseconds(0);
  }
  cache_log.Warn("no certificate: {}{}", std::string(status.message()),
                 ends_ > now ? StrCat("; the present one holds for ", ends_ - now, "s") : "");
  by_earlier_ = !by_earlier_;
  const milliseconds wait(static_cast<int64_t>(static_cast<double>(retry_.count()) * Chance(0.8, 1.2)));
  retry_ = std::min(2 * retry_, options_.last_retry);
  return wait;
}

std::string WorkloadCertificate::difficulty() const {
  std::lock_guard lock(mutex_);
  return difficulty_;
}

absl::Status WorkloadCertificate::Renew() {
  const auto key = ca::MakeKey(options_.key_type, options_.rsa_bits);
  if (!key.ok()) return key.status();
  const auto csr = ca::MakeSigningRequest(*key, options_.identity);
  if (!csr.ok()) return csr.status();
  const bool valid = ends_ > options_.now();
  auto chain = client_->Sign(*csr, options_.lifetime, valid && by_earlier_ ? current_ : Secret());
  if (!chain.ok()) return chain.status();
  return Take(*chain, *key);
}

// What does not fit is refused: a proxy would be given what it cannot use in place of what it can.
absl::Status WorkloadCertificate::Take(const std::vector<std::string>& chain, const ca::KeyPtr& key) {
  if (chain.size() < 2) return absl::InternalError("the authority gave no certificate with roots");
  std::string leaf_and_between;
  for (size_t i = 0; i + 1 < chain.size(); ++i) leaf_and_between += chain[i];
  const auto certificates = ca::ReadCertificates(leaf_and_between);
  const auto roots = ca::ReadCertificates(chain.back());
  if (!certificates.ok() || !roots.ok())
    return absl::InternalError("the authority's certificates cannot be read");
  const ca::CertificatePtr& leaf = certificates->front();
  if (!ca::SamePublicKey(ca::PublicKey(leaf), key))
    return absl::InternalError("the authority gave a certificate for another key");
  const int64_t now = options_.now();
  const absl::Status verified =
      ca::VerifyChain(leaf, {certificates->begin() + 1, certificates->end()}, *roots, "", now);
  if (!verified.ok())
    return absl::InternalError(StrCat("the authority's certificate: ", FromAbsl(verified.message())));
  ends_ = ca::NotAfter(leaf);
  const double grace = std::clamp(options_.grace + Chance(-options_.jitter, options_.jitter), 0.0, 1.0);
  renew_at_ = std::max(now + 1, ends_ - static_cast<int64_t>(grace * static_cast<double>(ends_ - now)));
  current_ = {ca::CertificatePems(*certificates),
              options_.pkcs8 ? ca::PrivateKeyPem(key) : TraditionalKeyPem(key),
              {}};
  // Roots first: by the time that others show certificates of a new one, it is known.
  store_->Set("ROOTCA", {{}, {}, chain.back()});
  store_->Set("default", current_);
  cache_log.Info("a certificate for {}s, renewed in {}s", ends_ - now, renew_at_ - now);
  return absl::OkStatus();
}

}  // namespace fairlead::agent
