#ifndef FAIRLEAD_AGENT_FILE_SECRETS_H_
#define FAIRLEAD_AGENT_FILE_SECRETS_H_

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "agent/secret_store.h"

namespace fairlead::agent {

// Files that a secret's name stands for: "file-root:PATH", "file-root:system" (the machine's roots) and
// "file-cert:CERTIFICATE~KEY". Source: Istio's SdsCertificateConfigFromResourceName.
struct SecretFiles {
  std::string chain, key;  // of a pair
  std::string roots;       // else
};
// InvalidArgument for another name.
absl::StatusOr<SecretFiles> FilesOfName(const std::string& name);

// Puts files into the store and keeps them up to date, by looking at them every now and then. A pair that
// does not fit together, as while it is replaced, is not taken: the last good stays.
class FileSecrets {
 public:
  // `store` must outlive it.
  explicit FileSecrets(SecretStore* store, std::chrono::milliseconds poll = std::chrono::seconds(1));
  ~FileSecrets();  // as Stop()
  void Start();
  void Stop();
  // Under that name from now on; reads it at once.
  void Add(const std::string& name, SecretFiles files);
  // The file of the revocation lists that go along with "ROOTCA", whenever it is there. To be called before
  // Start.
  void WatchRevocations(std::string file);
  // One look at all files, as the thread takes it; for tests.
  void Look();

 private:
  void Read(const std::string& name, const SecretFiles& files);
  void ReadRevocations();
  void NoteBroken(const std::string& name, const std::string& why);

  SecretStore* const store_;
  const std::chrono::milliseconds poll_;
  std::string revocations_;
  std::mutex mutex_;
  std::condition_variable stop_;
  std::map<std::string, SecretFiles> files_;   // guarded by mutex_
  std::map<std::string, std::string> broken_;  // what was logged last, by name; guarded by mutex_
  bool stopping_ = false;                      // guarded by mutex_
  std::thread thread_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_FILE_SECRETS_H_
