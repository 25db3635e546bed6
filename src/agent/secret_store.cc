#include "agent/secret_store.h"

#include <google/protobuf/any.pb.h>

#include <memory>
#include <set>
#include <utility>

#include "base/hash.h"
#include "ca/certificate.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"

namespace fairlead::agent {
namespace {

namespace tls = envoy::extensions::transport_sockets::tls::v3;

constexpr char kRoots[] = "ROOTCA";

cache::ResourcePtr Encode(const std::string& name, const Secret& secret, const std::string& crl) {
  tls::Secret message;
  message.set_name(name);
  if (secret.roots.empty()) {
    auto* pair = message.mutable_tls_certificate();
    pair->mutable_certificate_chain()->set_inline_bytes(secret.chain);
    pair->mutable_private_key()->set_inline_bytes(secret.key);
  } else {
    message.mutable_validation_context()->mutable_trusted_ca()->set_inline_bytes(secret.roots);
    if (!crl.empty()) message.mutable_validation_context()->mutable_crl()->set_inline_bytes(crl);
  }
  google::protobuf::Any any;
  any.PackFrom(message);
  const std::string bytes = any.SerializeAsString();
  auto resource = std::make_shared<cache::Resource>();
  resource->name = name;
  resource->hash = StableHash(bytes);
  resource->any = cache::PackedBytes(bytes);
  return resource;
}

// The certificates of both, each once; the roots as they are where there is nothing to add.
std::string Together(const std::string& roots, const std::vector<std::string>& trusted) {
  if (trusted.empty()) return roots;
  std::set<std::string> all;
  std::string text = roots;
  const auto certificates = ca::ReadCertificates(roots);
  if (certificates.ok()) {
    for (const auto& one : *certificates) all.insert(ca::CertificatePem(one));
  }
  for (const std::string& more : trusted) {
    const auto read = ca::ReadCertificates(more);
    if (!read.ok()) continue;
    for (const auto& one : *read) {
      std::string pem = ca::CertificatePem(one);
      if (!all.insert(pem).second) continue;
      if (!text.empty() && !text.ends_with('\n')) text += '\n';
      text += pem;
    }
  }
  return text;
}

}  // namespace

void SecretStore::Set(const std::string& name, const Secret& secret) {
  std::pair<Secret, Followers> news;
  {
    std::lock_guard lock(mutex_);
    const Entry& entry = entries_[name];
    if (entry.resource != nullptr && entry.given == secret) return;
    news = Put(name, secret);
  }
  for (const auto& changed : news.second) changed(name, news.first);
}

std::pair<Secret, SecretStore::Followers> SecretStore::Put(const std::string& name, const Secret& given) {
  Secret secret = given;
  if (name == kRoots) secret.roots = Together(given.roots, trusted_);
  entries_[name] = {given, secret, Encode(name, secret, name == kRoots ? crl_ : "")};
  return {std::move(secret), followers_};
}

void SecretStore::PutRoots(std::unique_lock<std::mutex> lock) {
  const auto it = entries_.find(kRoots);
  if (it == entries_.end() || it->second.resource == nullptr) return;
  const Secret given = it->second.given;
  const auto [secret, followers] = Put(kRoots, given);
  lock.unlock();
  for (const auto& changed : followers) changed(kRoots, secret);
}

void SecretStore::SetRevocations(std::string crl) {
  std::unique_lock lock(mutex_);
  if (crl == crl_) return;
  crl_ = std::move(crl);
  PutRoots(std::move(lock));
}

void SecretStore::SetTrusted(std::vector<std::string> certificates) {
  std::unique_lock lock(mutex_);
  if (certificates == trusted_) return;
  trusted_ = std::move(certificates);
  PutRoots(std::move(lock));
}

cache::ResourcePtr SecretStore::Find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : it->second.resource;
}

std::optional<Secret> SecretStore::Get(std::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto it = entries_.find(name);
  return it == entries_.end() || it->second.resource == nullptr ? std::nullopt
                                                                : std::optional(it->second.secret);
}

void SecretStore::Follow(std::function<void(const std::string&, const Secret&)> changed) {
  std::lock_guard lock(mutex_);
  followers_.push_back(std::move(changed));
}

void SecretStore::OnWanted(std::function<void(const std::string&)> wanted) {
  std::lock_guard lock(mutex_);
  wanted_ = std::move(wanted);
}

void SecretStore::Want(const std::string& name) {
  std::function<void(const std::string&)> wanted;
  {
    std::lock_guard lock(mutex_);
    wanted = wanted_;
  }
  if (wanted) wanted(name);
}

void SecretStore::Hold(const std::string& name) {
  std::lock_guard lock(mutex_);
  ++held_[name];
}

void SecretStore::LetGo(const std::string& name) {
  std::function<void()> let_go;
  {
    std::lock_guard lock(mutex_);
    const auto held = held_.find(name);
    if (held == held_.end() || --held->second > 0) return;
    held_.erase(held);
    let_go = let_go_;
  }
  if (let_go) let_go();
}

void SecretStore::OnLetGo(std::function<void()> let_go) {
  std::lock_guard lock(mutex_);
  let_go_ = std::move(let_go);
}

bool SecretStore::Lacks(std::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto entry = entries_.find(name);
  return held_.contains(name) && (entry == entries_.end() || entry->second.resource == nullptr);
}

bool SecretStore::EraseUnlessHeld(const std::string& name) {
  std::lock_guard lock(mutex_);
  if (held_.contains(name)) return false;
  entries_.erase(name);
  return true;
}

}  // namespace fairlead::agent
