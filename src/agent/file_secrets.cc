#include "agent/file_secrets.h"

#include <unistd.h>

#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "ca/certificate.h"
#include "ca/secret_file.h"

namespace fairlead::agent {
namespace {

LogScope cache_log("cache");

constexpr std::string_view kRoot = "file-root:", kPair = "file-cert:";
constexpr char kSystemRoots[] = "/etc/ssl/certs/ca-certificates.crt";

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

FileSecrets::FileSecrets(SecretStore* store, std::chrono::milliseconds poll) : store_(store), poll_(poll) {}

FileSecrets::~FileSecrets() { Stop(); }

void FileSecrets::Start() {
  thread_ = RequireThread([this] {
    std::unique_lock lock(mutex_);
    while (!stop_.wait_for(lock, poll_, [this] { return stopping_; })) {
      lock.unlock();
      Look();
      lock.lock();
    }
  });
}

void FileSecrets::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void FileSecrets::Add(const std::string& name, SecretFiles files) {
  {
    std::lock_guard lock(mutex_);
    if (!files_.emplace(name, files).second) return;
  }
  Read(name, files);
}

void FileSecrets::Look() {
  std::map<std::string, SecretFiles> files;
  {
    std::lock_guard lock(mutex_);
    files = files_;
  }
  for (const auto& [name, of_name] : files) Read(name, of_name);
  if (!revocations_.empty()) ReadRevocations();
}

void FileSecrets::WatchRevocations(std::string file) {
  revocations_ = std::move(file);
  ReadRevocations();
}

void FileSecrets::ReadRevocations() {
  if (access(revocations_.c_str(), F_OK) != 0) return store_->SetRevocations("");
  auto text = ca::ReadSecretFile(revocations_);
  const absl::Status status = text.ok() ? ca::CheckRevocations(*text) : text.status();
  NoteBroken(revocations_, std::string(status.message()));
  if (status.ok()) store_->SetRevocations(*std::move(text));
}

void FileSecrets::NoteBroken(const std::string& name, const std::string& why) {
  std::lock_guard lock(mutex_);
  if (!why.empty() && broken_[name] != why) cache_log.Warn("{}: {}", name, why);
  broken_[name] = why;
}

void FileSecrets::Read(const std::string& name, const SecretFiles& files) {
  auto secret = ReadFiles(files);
  NoteBroken(name, std::string(secret.status().message()));
  if (secret.ok()) store_->Set(name, *std::move(secret));
}

}  // namespace fairlead::agent
