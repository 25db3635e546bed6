#ifndef FAIRLEAD_CA_TOKEN_KEY_SOURCE_H_
#define FAIRLEAD_CA_TOKEN_KEY_SOURCE_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "ca/token.h"
#include "source/file/watched_files.h"

namespace fairlead::ca {

// Gets a document of the web; may block, for a bounded time.
using Fetch = std::function<absl::StatusOr<std::string>(const std::string& url)>;

// HTTPS with verified certificates (plaintext on this machine alone), three redirects at most, 1 MiB, 5 s.
absl::StatusOr<std::string> FetchDocument(const std::string& url);

struct TokenKeySourceOptions {
  std::string file;  // of keys, watched; "": they are the issuer's
  // The file has keys made here (token_issuer.h). It may come later and go again, and counts only in a folder
  // for its owner alone.
  bool own = false;
  std::string issuer;  // whose keys are found by discovery: ISSUER/.well-known/openid-configuration
  std::chrono::milliseconds retry = std::chrono::seconds(1);       // of a file that cannot be used
  std::chrono::milliseconds refresh = std::chrono::minutes(20);    // of the issuer's, a tenth more or less
  std::chrono::milliseconds least_wait = std::chrono::seconds(5);  // between two questions to the issuer
  Fetch fetch = FetchDocument;
};

// An issuer's keys as they are now, read or fetched by a thread of its own, so that nobody who verifies a
// token waits. A failure is logged, and the last good keys stay.
class TokenKeySource {
 public:
  explicit TokenKeySource(TokenKeySourceOptions options) : options_(std::move(options)) {}
  ~TokenKeySource();  // as Stop()
  void Start();
  void Stop();
  // Null before the first. `unknown`: a token came whose key is not among them; the issuer is asked soon.
  TokenKeysPtr Keys(bool unknown);
  // As the thread does once; for tests.
  absl::Status Refresh();

 private:
  void Run();
  void FollowFile();
  absl::Status RefreshAndLog();
  absl::StatusOr<std::string> Read() const;
  bool IsMissing() const;

  const TokenKeySourceOptions options_;
  source::WatchedFiles watch_{std::chrono::milliseconds(10)};  // the file; of the thread
  std::mutex mutex_;
  std::condition_variable wake_;
  TokenKeysPtr keys_;                      // guarded by mutex_
  bool asked_ = false, stopping_ = false;  // guarded by mutex_
  std::string text_, broken_;              // the thread's; what was logged last
  std::thread thread_;
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_TOKEN_KEY_SOURCE_H_
