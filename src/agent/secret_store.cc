#include "agent/secret_store.h"

#include <google/protobuf/any.pb.h>

#include <memory>
#include <utility>

#include "base/hash.h"
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

}  // namespace

void SecretStore::Set(const std::string& name, Secret secret) {
  std::vector<std::function<void(const std::string&, const Secret&)>> followers;
  {
    std::lock_guard lock(mutex_);
    const Entry& entry = entries_[name];
    if (entry.resource != nullptr && entry.secret == secret) return;
    followers = Put(name, secret);
  }
  for (const auto& changed : followers) changed(name, secret);
}

std::vector<std::function<void(const std::string&, const Secret&)>> SecretStore::Put(const std::string& name,
                                                                                     const Secret& secret) {
  entries_[name] = {secret, Encode(name, secret, name == kRoots ? crl_ : "")};
  return followers_;
}

void SecretStore::SetRevocations(std::string crl) {
  std::vector<std::function<void(const std::string&, const Secret&)>> followers;
  Secret roots;
  {
    std::lock_guard lock(mutex_);
    if (crl == crl_) return;
    crl_ = std::move(crl);
    const auto it = entries_.find(kRoots);
    if (it == entries_.end() || it->second.resource == nullptr) return;
    roots = it->second.secret;
    followers = Put(kRoots, roots);
  }
  for (const auto& changed : followers) changed(kRoots, roots);
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

}  // namespace fairlead::agent
