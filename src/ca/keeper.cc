#include "ca/keeper.h"

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "ca/metrics.h"
#include "ca/next_look.h"

namespace fairlead::ca {
namespace {

LogScope pki_log("pkica");

constexpr std::chrono::milliseconds kTogether{100};  // files that are written one after the other

bool ShareARoot(const Bundle& a, const Bundle& b) {
  return std::any_of(a.roots.begin(), a.roots.end(), [&b](const CertificatePtr& one) {
    return std::any_of(b.roots.begin(), b.roots.end(),
                       [&one](const CertificatePtr& other) { return SameCertificate(one, other); });
  });
}

}  // namespace

Keeper::Keeper(KeeperOptions options, Authority* authority)
    : options_(std::move(options)),
      folder_(options_.self_signed),
      secret_(options_.secret.ask ? std::make_unique<RootSecret>(options_.secret) : nullptr),
      authority_(authority),
      watch_(kTogether) {}

Keeper::~Keeper() { Stop(); }

absl::Status Keeper::Start() {
  Metrics();
  auto texts = ReadPluggedIn(options_.plugged_in, options_.revocations);
  if (!texts.ok()) return texts.status();
  const int64_t now = options_.now();
  const bool is_new = !*texts && secret_ == nullptr && !folder_.HasRoot();
  auto bundle = *texts ? ReadBundle(**texts, now) : LoadOwn(now);
  if (!bundle.ok()) return bundle.status();
  if (*texts) texts_ = **std::move(texts);
  const std::string place = UsesSecret() ? secret_->Place() : options_.self_signed.folder;
  pki_log.Info("signing with {}",
               (*bundle)->self_signed
                   ? StrCat("a root of our own, kept in ", place)
                   : StrCat("the authority in ", UsesSecret() ? place : options_.plugged_in));
  if (is_new) {
    pki_log.Warn(
        "the root is new: there was none in {} (FAIRLEAD_CA_DIR). What an earlier root of another folder "
        "signed "
        "is not trusted, and agents need the new one",
        options_.self_signed.folder);
  }
  age_seen_ = now;
  NoteExpiry(**bundle, now);
  authority_->Replace(*std::move(bundle));
  LookAtAge();
  thread_ = RequireThread([this] { Run(); });
  return absl::OkStatus();
}

absl::StatusOr<BundlePtr> Keeper::LoadOwn(int64_t now) {
  return secret_ != nullptr ? secret_->Load(now) : folder_.Load(now);
}

void Keeper::OnSecretChanged() {
  {
    std::lock_guard lock(mutex_);
    secret_changed_ = true;
  }
  watch_.Wake();
}

void Keeper::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  watch_.Wake();
  if (thread_.joinable()) thread_.join();
}

void Keeper::Run() {
  for (;;) {
    bool secret_changed = false;
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
      secret_changed = std::exchange(secret_changed_, false);
    }
    Clock::time_point next;
    {
      std::lock_guard looking(looking_);
      // Watched before they are read, so that no change is missed.
      watch_.Watch(ReadsFiles() ? FilesOfPluggedIn(options_.plugged_in) : std::vector<std::string>());
      if (secret_changed && UsesSecret()) LookAtSecret();
      LookLocked();
      next = NextLook();
    }
    watch_.Wait(next);
  }
}

// Whether an operator's files are what is signed with.
bool Keeper::ReadsFiles() const { return !authority_->bundle()->self_signed && !UsesSecret(); }

Clock::time_point Keeper::NextLook() {
  if (ReadsFiles()) return broken_.empty() ? Clock::time_point::max() : Clock::now() + options_.retry;
  if (options_.root_check.count() <= 0) return Clock::time_point::max();
  return NextLookFor(age_seen_ + options_.root_check.count(), options_.now());
}

void Keeper::Look() {
  std::lock_guard looking(looking_);
  LookLocked();
}

// REQUIRES: looking_ held.
void Keeper::LookLocked() {
  const BundlePtr bundle = authority_->bundle();
  NoteExpiry(*bundle, options_.now());
  if (ReadsFiles()) return LookAtFiles();
  const int64_t now = options_.now();
  if (options_.root_check.count() <= 0 || now - age_seen_ < options_.root_check.count()) return;
  age_seen_ = now;
  if (UsesSecret()) LookAtSecret();
  LookAtAge();
}

// What another replica or an operator wrote there counts.
void Keeper::LookAtSecret() {
  const BundlePtr known = authority_->bundle();
  absl::StatusOr<BundlePtr> next = secret_->Reload(*known, options_.now());
  if (!next.ok()) {
    const std::string why(next.status().message());
    if (why != broken_) pki_log.Error("{}; the last good authority is kept", why);
    broken_ = why;
    return;
  }
  broken_.clear();
  if (SameCertificate((*next)->certificate, known->certificate) &&
      CertificatePems((*next)->roots) == CertificatePems(known->roots) && (*next)->crl == known->crl)
    return;
  if (!ShareARoot(**next, *known))
    pki_log.Warn(
        "{}: all roots are new: workloads trust each other only after all of them have new certificates",
        secret_->Place());
  authority_->Replace(*std::move(next));
  pki_log.Info("{}: signing with the changed authority", secret_->Place());
}

void Keeper::LookAtFiles() {
  auto texts = ReadPluggedIn(options_.plugged_in, options_.revocations);
  if (texts.ok() && *texts && **texts == texts_) return;
  absl::StatusOr<BundlePtr> bundle = absl::NotFoundError("the authority's files are gone");
  if (!texts.ok()) {
    bundle = texts.status();
  } else if (*texts) {
    bundle = ReadBundle(**texts, options_.now());
  }
  if (!bundle.ok()) {
    const std::string why(bundle.status().message());
    if (why != broken_) pki_log.Error("{}: {}; the last good ones are kept", options_.plugged_in, why);
    broken_ = why;
    return;
  }
  if (!ShareARoot(**bundle, *authority_->bundle())) {
    pki_log.Warn(
        "{}: all roots are new: workloads trust each other only after all of them have new certificates",
        options_.plugged_in);
  }
  texts_ = **std::move(texts);
  broken_.clear();
  authority_->Replace(*std::move(bundle));
  pki_log.Info("{}: signing with the changed files", options_.plugged_in);
}

void Keeper::LookAtAge() {
  const BundlePtr bundle = authority_->bundle();
  const int64_t now = options_.now();
  if (!bundle->self_signed || !folder_.Due(*bundle, now)) return;
  auto next = UsesSecret() ? secret_->Renew(*bundle, now) : folder_.Renew(*bundle, now);
  if (!next.ok()) {
    pki_log.Error("the root cannot be renewed: {}", std::string(next.status().message()));
    return;
  }
  authority_->Replace(*std::move(next));
  pki_log.Info("the root is renewed");
}

}  // namespace fairlead::ca
