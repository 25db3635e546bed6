#ifndef FAIRLEAD_AGENT_FILE_SECRETS_H_
#define FAIRLEAD_AGENT_FILE_SECRETS_H_

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/secret_store.h"
#include "source/file/watched_files.h"

namespace fairlead::agent {

// Files that a secret's name stands for: "file-root:PATH", "file-root:system" (the machine's roots) and
// "file-cert:CERTIFICATE~KEY". Source: Istio's SdsCertificateConfigFromResourceName.
struct SecretFiles {
  std::string chain, key;  // of a pair
  std::string roots;       // else
  friend auto operator<=>(const SecretFiles&, const SecretFiles&) = default;
};
// InvalidArgument for another name.
absl::StatusOr<SecretFiles> FilesOfName(const std::string& name);

// Puts files into the store and keeps them up to date. A thread reads a file when it changes, once for all
// its names. A pair that does not fit together, as while it is replaced, is not taken: the last good stays.
class FileSecrets {
 public:
  // `store` must outlive it. `debounce`: changes of that time are read together.
  explicit FileSecrets(SecretStore* store,
                       std::chrono::milliseconds debounce = std::chrono::milliseconds(100))
      : store_(store), watch_(debounce) {}
  ~FileSecrets();  // as Stop()
  void Start();
  void Stop();
  // Under that name from now on; the thread reads them. `kept`: for good, else as long as somebody asks the
  // store for the name.
  void Add(const std::string& name, SecretFiles files, bool kept);
  // Somebody has let go of a name of the store.
  void OnLetGo() { watch_.Wake(); }
  // The file of the revocation lists that go along with "ROOTCA", whenever it is there. To be called before
  // Start.
  void WatchRevocations(std::string file);
  // One look at all files, as the thread takes it; for tests. True: one is to be looked at again soon.
  bool Look();
  // Files that cannot be used, and why.
  std::vector<std::string> Difficulties() const;

 private:
  struct Name {
    SecretFiles files;
    bool kept = false;
  };
  // Files as they were read last. The thread's own.
  struct Known {
    std::optional<source::FileState> state;  // nothing: not yet read
    std::optional<Secret> secret;            // the last good one
    std::set<std::string> names;             // that have it
  };
  void Run();
  std::map<std::string, Name> Names();  // those that nobody asks for any more are gone
  bool Read(const SecretFiles& files, const std::set<std::string>& names);
  bool ReadRevocations();
  void NoteDifficulty(const std::string& of, const std::string& why);
  std::vector<std::string> Files();

  SecretStore* const store_;
  std::string revocations_;
  std::optional<source::FileState> revocations_state_;
  std::map<SecretFiles, Known> known_;
  source::WatchedFiles watch_;
  mutable std::mutex mutex_;
  std::map<std::string, Name> names_;                // guarded by mutex_
  std::map<std::string, std::string> difficulties_;  // by what has them; guarded by mutex_
  bool stopping_ = false;                            // guarded by mutex_
  std::thread thread_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_FILE_SECRETS_H_
