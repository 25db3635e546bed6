#ifndef FAIRLEAD_CA_KEEPER_H_
#define FAIRLEAD_CA_KEEPER_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "base/clock.h"
#include "ca/authority.h"
#include "ca/bundle_folder.h"
#include "ca/root_secret.h"
#include "source/file/watched_files.h"

namespace fairlead::ca {

struct KeeperOptions {
  std::string plugged_in;   // ROOT_CA_DIR; its files go before a root of our own
  bool revocations = true;  // PILOT_ENABLE_CA_CRL: whether a list of revoked certificates among them counts
  SelfSignedOptions self_signed;
  // Where there is a cluster, its Secrets take the place of the folder of `self_signed`.
  RootSecretOptions secret = {};
  // How long until files are read again that could not be used. Changed ones are read at once.
  std::chrono::milliseconds retry = std::chrono::seconds(1);
  // How often the age of a root of our own is; zero: never (CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL).
  std::chrono::seconds root_check = std::chrono::hours(1);
  UnixClock now = UnixNow;
};

// Gives an authority its signing bundle and keeps it up to date by a thread of its own. An operator's files
// may change, and the self-made root ages. An unusable bundle is logged, and the last good one stays.
class Keeper {
 public:
  Keeper(KeeperOptions options, Authority* authority);  // `authority` must outlive it
  ~Keeper();                                            // as Stop()
  // Fails as ReadPluggedIn, ReadBundle and SelfSignedFolder::Load do.
  absl::Status Start();
  void Stop();
  // A Secret of the authority's may have changed: it is read again, soon. Thread-safe.
  void OnSecretChanged();
  // One look at everything, as the thread takes it; for tests. Thread-safe.
  void Look();

 private:
  void Run();
  void LookLocked();
  bool ReadsFiles() const;
  Clock::time_point NextLook();
  void LookAtFiles();
  void LookAtAge();
  void LookAtSecret();
  bool UsesSecret() const { return secret_ != nullptr && texts_ == BundleTexts(); }
  absl::StatusOr<BundlePtr> LoadOwn(int64_t now);

  const KeeperOptions options_;
  const SelfSignedFolder folder_;
  const std::unique_ptr<RootSecret> secret_;  // null: the folder counts
  Authority* const authority_;
  BundleTexts texts_;   // of the operator's files as they were last; of a root of our own empty
  std::string broken_;  // what was last logged of them
  int64_t age_seen_ = 0;
  std::mutex looking_;  // held while something is looked at, with all above
  source::WatchedFiles watch_;
  std::mutex mutex_;
  bool stopping_ = false;        // guarded by mutex_
  bool secret_changed_ = false;  // likewise
  std::thread thread_;
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_KEEPER_H_
