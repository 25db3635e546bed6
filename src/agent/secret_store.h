#ifndef FAIRLEAD_AGENT_SECRET_STORE_H_
#define FAIRLEAD_AGENT_SECRET_STORE_H_

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  // Tells followers, on the calling thread, if it differs from the previous one.
  void Set(const std::string& name, const Secret& secret);
  // Lists (PEM, "" for none) that go along with "ROOTCA" from now on: its proxy believes no certificate that
  // they name.
  void SetRevocations(std::string crl);
  // Authorities (PEM) that "ROOTCA" has, too, from now on, whatever authority the workload's certificate is
  // of.
  void SetTrusted(std::vector<std::string> certificates);
  // As an encoded envoy.extensions.transport_sockets.tls.v3.Secret; null: not there (yet).
  cache::ResourcePtr Find(std::string_view name) const;
  // As it is given to the proxy; nothing: not there (yet).
  std::optional<Secret> Get(std::string_view name) const;
  // `changed` is called after each change, for good.
  void Follow(std::function<void(const std::string& name, const Secret& secret)> changed);
  // `wanted` hears of names that are asked for and not there.
  void OnWanted(std::function<void(const std::string& name)> wanted);
  void Want(const std::string& name);
  // Holds a name for an asker, whatever its content, until every Hold has its release; `let_go` hears when
  // nobody is left.
  void Hold(const std::string& name);
  void LetGo(const std::string& name);
  void OnLetGo(std::function<void()> let_go);
  // Whether somebody holds a name that is not there.
  bool Lacks(std::string_view name) const;
  // Whether nobody holds the name: then it is not there any more.
  bool EraseUnlessHeld(const std::string& name);

 private:
  using Followers = std::vector<std::function<void(const std::string& name, const Secret& secret)>>;
  struct Entry {
    Secret given;                 // as Set had it
    Secret secret;                // as the proxy has it
    cache::ResourcePtr resource;  // of it; null: not there
  };
  // Encodes the entry, and returns the news for followers. REQUIRES: mutex_ held.
  std::pair<Secret, Followers> Put(const std::string& name, const Secret& given);
  // Makes the roots anew, after what goes along with them has changed.
  void PutRoots(std::unique_lock<std::mutex> lock);

  mutable std::mutex mutex_;
  std::string crl_;                                    // guarded by mutex_
  std::vector<std::string> trusted_;                   // guarded by mutex_
  std::map<std::string, Entry, std::less<>> entries_;  // guarded by mutex_
  Followers followers_;                                // guarded by mutex_
  std::function<void(const std::string&)> wanted_;     // guarded by mutex_
  std::function<void()> let_go_;                       // guarded by mutex_
  std::map<std::string, size_t, std::less<>> held_;    // how often, over 0; guarded by mutex_
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_SECRET_STORE_H_
