#include "agent/file_secrets.h"

#include <unistd.h>

#include <utility>

#include "agent/proofs.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "ca/certificate.h"
#include "ca/secret_file.h"

namespace fairlead::agent {
namespace {

LogScope cache_log("cache");

// Between two looks at files that nobody tells of, and at such as changed a moment ago.
constexpr std::chrono::seconds kSeldom{10}, kSoon{1};
constexpr std::string_view kRoot = "file-root:", kPair = "file-cert:";

absl::StatusOr<Secret> ReadFiles(const SecretFiles& files) {
  Secret secret;
  for (const auto& [file, text] : {std::pair(&files.chain, &secret.chain), std::pair(&files.key, &secret.key),
                                   std::pair(&files.roots, &secret.roots)}) {
    if (file->empty()) continue;
    auto read = ca::ReadSecretFile(*file);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  const auto certificates = ca::ReadCertificates(files.roots.empty() ? secret.chain : secret.roots);
  if (!certificates.ok()) {
    return absl::InvalidArgumentError(StrCat(files.roots.empty() ? files.chain : files.roots, ": ",
                                             FromAbsl(certificates.status().message())));
  }
  if (!files.roots.empty()) return secret;
  const auto key = ca::ReadPrivateKey(secret.key);
  if (!key.ok()) return absl::InvalidArgumentError(StrCat(files.key, ": ", FromAbsl(key.status().message())));
  if (!ca::SamePublicKey(ca::PublicKey(certificates->front()), *key))
    return absl::InvalidArgumentError(StrCat(files.key, ": not the key of ", files.chain));
  return secret;
}

}  // namespace

absl::StatusOr<SecretFiles> FilesOfName(const std::string& name) {
  SecretFiles files;
  if (name.starts_with(kRoot)) {
    files.roots = name.substr(kRoot.size());
    if (files.roots == "system") files.roots = kSystemRoots;
    if (!files.roots.empty()) return files;
  } else if (name.starts_with(kPair)) {
    const std::string paths = name.substr(kPair.size());
    const size_t middle = paths.find('~');
    if (middle != std::string::npos && middle > 0 && middle + 1 < paths.size()) {
      files.chain = paths.substr(0, middle);
      files.key = paths.substr(middle + 1);
      return files;
    }
  }
  return absl::InvalidArgumentError(StrCat("'", name, "' is no secret of the agent"));
}

FileSecrets::~FileSecrets() { Stop(); }

void FileSecrets::Start() {
  thread_ = RequireThread([this] { Run(); });
}

void FileSecrets::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  watch_.Wake();
  if (thread_.joinable()) thread_.join();
}

void FileSecrets::Run() {
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    // Watched before it is read, so that no change is missed.
    const std::vector<std::string> files = Files();
    watch_.Watch(files);
    const bool soon = Look();
    watch_.Wait(files.empty() ? Clock::time_point::max() : Clock::now() + (soon ? kSoon : kSeldom));
  }
}

void FileSecrets::Add(const std::string& name, SecretFiles files, bool kept) {
  {
    std::lock_guard lock(mutex_);
    if (!names_.emplace(name, Name{std::move(files), kept}).second) return;
  }
  watch_.Wake();
}

std::map<std::string, FileSecrets::Name> FileSecrets::Names() {
  std::lock_guard lock(mutex_);
  std::erase_if(names_, [this](const auto& name) {
    if (name.second.kept || !store_->EraseUnlessHeld(name.first)) return false;
    difficulties_.erase(name.first);
    return true;
  });
  return names_;
}

std::vector<std::string> FileSecrets::Files() {
  std::vector<std::string> files;
  for (const auto& [name, of_name] : Names()) {
    for (const std::string* file : {&of_name.files.chain, &of_name.files.key, &of_name.files.roots}) {
      if (!file->empty()) files.push_back(*file);
    }
  }
  if (!revocations_.empty()) files.push_back(revocations_);
  return files;
}

bool FileSecrets::Look() {
  std::map<SecretFiles, std::set<std::string>> wanted;
  for (const auto& [name, of_name] : Names()) wanted[of_name.files].insert(name);
  std::erase_if(known_, [&](const auto& known) { return !wanted.contains(known.first); });
  bool again = false;
  for (const auto& [files, names] : wanted) again = Read(files, names) || again;
  return (!revocations_.empty() && ReadRevocations()) || again;
}

bool FileSecrets::Read(const SecretFiles& files, const std::set<std::string>& names) {
  Known& known = known_[files];
  const auto state = source::FileState::Of({files.chain, files.key, files.roots});
  if (known.state != state || state.recent()) {
    auto secret = ReadFiles(files);
    const std::string why(secret.status().message());
    for (const std::string& name : names) NoteDifficulty(name, why);
    if (secret.ok() && known.secret != *secret) {
      known.secret = *std::move(secret);
      known.names.clear();
    }
  }
  known.state = state;
  if (known.secret) {
    for (const std::string& name : names) {
      if (!known.names.contains(name)) store_->Set(name, *known.secret);
    }
    known.names = names;
  }
  return state.recent();
}

void FileSecrets::WatchRevocations(std::string file) {
  revocations_ = std::move(file);
  ReadRevocations();
}

bool FileSecrets::ReadRevocations() {
  const auto state = source::FileState::Of({revocations_});
  if (revocations_state_ == state && !state.recent()) return false;
  revocations_state_ = state;
  if (access(revocations_.c_str(), F_OK) != 0) {
    NoteDifficulty(revocations_, "");
    store_->SetRevocations("");
    return state.recent();
  }
  auto text = ca::ReadSecretFile(revocations_);
  const absl::Status status = text.ok() ? ca::CheckRevocations(*text) : text.status();
  NoteDifficulty(revocations_, std::string(status.message()));
  if (status.ok()) store_->SetRevocations(*std::move(text));
  return state.recent();
}

void FileSecrets::NoteDifficulty(const std::string& of, const std::string& why) {
  std::lock_guard lock(mutex_);
  if (why.empty()) {
    difficulties_.erase(of);
  } else if (std::string& noted = difficulties_[of]; noted != why) {
    noted = why;
    cache_log.Warn("{}: {}", of, why);
  }
}

std::vector<std::string> FileSecrets::Difficulties() const {
  std::vector<std::string> all;
  std::lock_guard lock(mutex_);
  for (const auto& [of, why] : difficulties_) {
    const bool named = of.starts_with(kRoot) || of.starts_with(kPair);
    all.push_back(StrCat(of, ": ", why,
                         named
                             ? "; the mesh's configuration (tls of a DestinationRule or Gateway) names this "
                               "file, and what needs it waits"
                             : ""));
  }
  return all;
}

}  // namespace fairlead::agent
