#include "ca/bundle_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "base/files.h"
#include "base/strings.h"
#include "ca/issue.h"
#include "ca/secret_file.h"

namespace fairlead::ca {
namespace {

constexpr char kCertificate[] = "ca-cert.pem", kKey[] = "ca-key.pem", kRoots[] = "root-cert.pem";
constexpr char kChain[] = "cert-chain.pem", kRevoked[] = "ca-crl.pem";
constexpr int64_t kClockSkew = 120;

bool Exists(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0;
}

struct Names {
  const char *certificate, *key, *roots, *chain, *crl;
};
constexpr Names kPlain{kCertificate, kKey, kRoots, kChain, kRevoked};
constexpr Names kTls{"tls.crt", "tls.key", "ca.crt", nullptr, "ca.crl"};

// Reads what must be there into its text.
absl::Status ReadInto(const std::string& folder, const char* name, std::string* text) {
  auto read = ReadSecretFile(StrCat(folder, "/", name));
  if (!read.ok()) return read.status();
  *text = *std::move(read);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<BundleTexts>> ReadPluggedIn(const std::string& folder, bool revocations) {
  const bool tls = Exists(StrCat(folder, "/", kTls.certificate));
  const Names& names = tls ? kTls : kPlain;
  std::vector<std::string> missing;
  size_t wanted = 0;
  for (const char* name : {names.certificate, names.key, names.roots, names.chain}) {
    if (name == nullptr) continue;
    ++wanted;
    if (!Exists(StrCat(folder, "/", name))) missing.emplace_back(name);
  }
  if (missing.size() == wanted) return std::nullopt;
  if (!missing.empty())
    return absl::FailedPreconditionError(
        StrCat(folder, ": of the authority's files ", Join(missing, ", "), " is missing"));
  BundleTexts texts;
  for (const auto& [name, text] :
       {std::pair(names.certificate, &texts.certificate), std::pair(names.key, &texts.key),
        std::pair(names.roots, &texts.roots), std::pair(names.chain, &texts.chain)}) {
    if (name == nullptr) continue;
    if (absl::Status status = ReadInto(folder, name, text); !status.ok()) return status;
  }
  if (revocations && Exists(StrCat(folder, "/", names.crl))) {
    if (absl::Status status = ReadInto(folder, names.crl, &texts.crl); !status.ok()) return status;
  }
  // Of a kubernetes.io/tls secret the certificate's file holds the chain, too.
  if (tls) texts.chain = texts.certificate;
  return texts;
}

std::vector<std::string> FilesOfPluggedIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const Names& names : {kPlain, kTls}) {
    for (const char* name : {names.certificate, names.key, names.roots, names.chain, names.crl}) {
      if (name != nullptr) files.push_back(StrCat(folder, "/", name));
    }
  }
  return files;
}

std::string SelfSignedFolder::Path(const char* name) const { return StrCat(options_.folder, "/", name); }

bool SelfSignedFolder::HasRoot() const { return Exists(Path(kKey)); }

absl::StatusOr<BundlePtr> SelfSignedFolder::Load(int64_t now) const {
  if (!HasRoot()) return Make(now);
  for (const std::string& path : {options_.folder, Path(kKey)}) {
    if (absl::Status status = CheckPrivate(path); !status.ok()) return status;
  }
  BundleTexts texts;
  for (const auto& [name, text] : {std::pair(kCertificate, &texts.certificate), std::pair(kKey, &texts.key),
                                   std::pair(kRoots, &texts.roots)}) {
    if (absl::Status status = ReadInto(options_.folder, name, text); !status.ok()) return status;
  }
  auto bundle = ReadBundle(texts, now);
  if (!bundle.ok())
    return absl::FailedPreconditionError(StrCat(options_.folder, ": ", FromAbsl(bundle.status().message())));
  auto own = std::make_shared<Bundle>(**bundle);
  own->self_signed = true;
  return own;
}

absl::StatusOr<BundlePtr> MakeSelfSigned(const SelfSignedOptions& options, int64_t now) {
  const auto key =
      options.rsa_bits > 0 ? MakeKey(KeyType::kRsa, options.rsa_bits) : MakeKey(KeyType::kEcdsaP256);
  if (!key.ok()) return key.status();
  auto bundle = std::make_shared<Bundle>();
  bundle->key = *key;
  bundle->self_signed = true;
  const auto root = MakeRoot(*key, options.organization, now - kClockSkew, now + options.lifetime.count());
  if (!root.ok()) return root.status();
  bundle->certificate = *root;
  bundle->roots = {*root};
  return bundle;
}

absl::StatusOr<BundlePtr> RenewedRoot(const SelfSignedOptions& options, const Bundle& bundle, int64_t now) {
  auto next = std::make_shared<Bundle>(bundle);
  const auto root =
      MakeRoot(bundle.key, options.organization, now - kClockSkew, now + options.lifetime.count());
  if (!root.ok()) return root.status();
  next->certificate = *root;
  std::erase_if(next->roots, [now](const CertificatePtr& old) { return NotAfter(old) <= now; });
  next->roots.insert(next->roots.begin(), *root);
  return next;
}

absl::StatusOr<BundlePtr> SelfSignedFolder::Make(int64_t now) const {
  if (absl::Status status = MakePrivateFolder(options_.folder); !status.ok()) return status;
  absl::StatusOr<BundlePtr> bundle = MakeSelfSigned(options_, now);
  if (!bundle.ok()) return bundle;
  if (absl::Status status = Keep(**bundle, /*with_key=*/true); !status.ok()) return status;
  return bundle;
}

// The key last: without it nothing counts as kept.
absl::Status SelfSignedFolder::Keep(const Bundle& bundle, bool with_key) const {
  absl::Status status = WritePrivateFile(Path(kRoots), CertificatePems(bundle.roots));
  if (status.ok()) status = WritePrivateFile(Path(kCertificate), CertificatePem(bundle.certificate));
  if (status.ok() && with_key) status = WritePrivateFile(Path(kKey), PrivateKeyPem(bundle.key));
  return status;
}

bool SelfSignedFolder::Due(const Bundle& bundle, int64_t now) const {
  const int64_t end = NotAfter(bundle.certificate), lifetime = end - NotBefore(bundle.certificate);
  return now >= end - lifetime * options_.grace_percent / 100;
}

absl::StatusOr<BundlePtr> SelfSignedFolder::Renew(const Bundle& bundle, int64_t now) const {
  absl::StatusOr<BundlePtr> next = RenewedRoot(options_, bundle, now);
  if (!next.ok()) return next;
  if (absl::Status status = Keep(**next, /*with_key=*/false); !status.ok()) return status;
  return next;
}

}  // namespace fairlead::ca
