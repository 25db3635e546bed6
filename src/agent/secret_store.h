#ifndef FAIRLEAD_AGENT_SECRET_STORE_H_
#define FAIRLEAD_AGENT_SECRET_STORE_H_

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/resource.h"

namespace fairlead::agent {

// A certificate with its key, or roots; PEM.
struct Secret {
  std::string chain, key;  // both, or neither
  std::string roots;       // where there is no pair
  friend bool operator==(const Secret&, const Secret&) = default;
};

// The secrets that the agent has for its proxy, by the names that the proxy asks for: "default" (the
// workload's certificate), "ROOTCA", "file-root:…", "file-cert:…". Thread-safe.
class SecretStore {
 public:
  // Tells those who follow, on the calling thread, if it differs from what there was.
  void Set(const std::string& name, Secret secret);
  // Lists (PEM, "" for none) that go along with "ROOTCA" from now on: its proxy believes no certificate that
  // they name.
  void SetRevocations(std::string crl);
  // As an encoded envoy.extensions.transport_sockets.tls.v3.Secret; null: not there (yet).
  cache::ResourcePtr Find(std::string_view name) const;
  // The secret itself; nothing: not there (yet).
  std::optional<Secret> Get(std::string_view name) const;
  // `changed` is called after each change, for good.
  void Follow(std::function<void(const std::string& name, const Secret& secret)> changed);
  // `wanted` hears of names that are asked for and not there.
  void OnWanted(std::function<void(const std::string& name)> wanted);
  void Want(const std::string& name);

 private:
  struct Entry {
    Secret secret;
    cache::ResourcePtr resource;
  };
  // Encodes the entry and gives those who follow. REQUIRES: mutex_ held.
  std::vector<std::function<void(const std::string&, const Secret&)>> Put(const std::string& name,
                                                                          const Secret& secret);

  mutable std::mutex mutex_;
  std::string crl_;                                                                // guarded by mutex_
  std::map<std::string, Entry, std::less<>> entries_;                              // guarded by mutex_
  std::vector<std::function<void(const std::string&, const Secret&)>> followers_;  // guarded by mutex_
  std::function<void(const std::string&)> wanted_;                                 // guarded by mutex_
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_SECRET_STORE_H_
