#include "ca/listener_certificate.h"

#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "ca/next_look.h"
#include "ca/secret_file.h"

namespace fairlead::ca {
namespace {

LogScope tls_log("tls");

constexpr std::chrono::milliseconds kTogether{100};  // files that are written one after the other

bool Same(const http2::TlsMaterial& a, const http2::TlsMaterial& b) {
  return a.certificate_chain == b.certificate_chain && a.private_key == b.private_key &&
         a.client_roots == b.client_roots && a.client_crl == b.client_crl;
}

}  // namespace

ListenerCertificate::ListenerCertificate(ListenerCertificateOptions options, Authority* authority, Take take)
    : options_(std::move(options)),
      authority_(authority),
      take_(std::move(take)),
      watch_(std::make_shared<source::WatchedFiles>(kTogether)) {}

ListenerCertificate::~ListenerCertificate() { Stop(); }

absl::Status ListenerCertificate::Start() {
  if (absl::Status status = Look(); !status.ok()) return status;
  authority_->Follow([watch = std::weak_ptr(watch_)](const BundlePtr& /*bundle*/) {
    if (const auto alive = watch.lock()) alive->Wake();
  });
  thread_ = RequireThread([this] { Run(); });
  return absl::OkStatus();
}

void ListenerCertificate::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  watch_->Wake();
  if (thread_.joinable()) thread_.join();
}

void ListenerCertificate::Run() {
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    // Watched before they are read, so that no change is missed.
    watch_->Watch(Files());
    Clock::time_point next;
    {
      std::lock_guard looking(looking_);
      const absl::Status status = LookLocked();
      const std::string why(status.message());
      if (!status.ok() && why != broken_) tls_log.Error("{}; the last good certificate stays", why);
      broken_ = why;
      next = NextLook(status);
    }
    watch_->Wait(next);
  }
}

std::vector<std::string> ListenerCertificate::Files() const {
  if (options_.chain_file.empty()) return {};
  std::vector<std::string> files = options_.roots_files;
  files.insert(files.end(), {options_.chain_file, options_.key_file});
  return files;
}

Clock::time_point ListenerCertificate::NextLook(const absl::Status& status) const {
  if (!status.ok()) return Clock::now() + options_.retry;
  if (!options_.chain_file.empty()) return Clock::time_point::max();
  return NextLookFor(made_ + (ends_ - made_) / 2, options_.now());
}

bool ListenerCertificate::Due() const {
  return authority_->bundle() != of_bundle_ || options_.now() >= made_ + (ends_ - made_) / 2;
}

absl::Status ListenerCertificate::Look() {
  std::lock_guard looking(looking_);
  return LookLocked();
}

// REQUIRES: looking_ held.
absl::Status ListenerCertificate::LookLocked() {
  const bool files = !options_.chain_file.empty();
  if (!files && !Due()) return absl::OkStatus();
  auto material = files ? Read() : Make();
  if (!material.ok()) return material.status();
  if (Same(*material, shown_)) return absl::OkStatus();
  if (absl::Status status = take_(*material); !status.ok()) return status;
  tls_log.Info("the listener has a new certificate");
  shown_ = *std::move(material);
  return absl::OkStatus();
}

absl::StatusOr<http2::TlsMaterial> ListenerCertificate::Make() {
  const BundlePtr bundle = authority_->bundle();
  const int64_t now = options_.now();
  auto made = authority_->MakeKeyAndChain(options_.names, options_.lifetime);
  if (!made.ok()) return made.status();
  of_bundle_ = bundle;
  made_ = now;
  ends_ = made->not_after;
  http2::TlsMaterial material;
  material.certificate_chain = made->chain;
  material.private_key = made->key;
  material.client_roots = CertificatePems(bundle->roots);
  material.client_crl = bundle->crl;
  return material;
}

absl::StatusOr<http2::TlsMaterial> ListenerCertificate::Read() const {
  http2::TlsMaterial material;
  for (const auto& [file, text] : {std::pair(&options_.chain_file, &material.certificate_chain),
                                   std::pair(&options_.key_file, &material.private_key)}) {
    auto read = ReadSecretFile(*file);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  for (const std::string& file : options_.roots_files) {
    const auto read = ReadSecretFile(file);
    if (!read.ok()) return read.status();
    StrAppend(&material.client_roots, material.client_roots.empty() ? "" : "\n", *read);
  }
  if (const BundlePtr bundle = authority_->bundle(); bundle != nullptr) {
    StrAppend(&material.client_roots, material.client_roots.empty() ? "" : "\n",
              CertificatePems(bundle->roots));
    material.client_crl = bundle->crl;
  }
  return material;
}

}  // namespace fairlead::ca
