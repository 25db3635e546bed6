#ifndef FAIRLEAD_AGENT_GOOGLE_TOKEN_H_
#define FAIRLEAD_AGENT_GOOGLE_TOKEN_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "agent/bootstrap/platform.h"

namespace fairlead::agent {

// Keeps the identity token of a machine at Google in the file of the workload's token. A thread of its own
// asks the metadata server, and again each five minutes once the token ends in less than 25.
// Source: Istio, security/pkg/credentialfetcher/plugin/gce.go.
class GoogleToken {
 public:
  // `server`: "http://169.254.169.254"; `audience`: the trust domain; `file`: of the token.
  GoogleToken(std::string server, std::string audience, std::string file, AskMetadata ask);
  ~GoogleToken();  // as Stop()
  void Start();
  void Stop();
  // Fetches a token if that is due at `now`, in Unix seconds; as the thread does. One thread at a time.
  absl::Status Refresh(int64_t now);

 private:
  const std::string server_, audience_, file_;
  const AskMetadata ask_;
  int64_t ends_ = 0;  // the token, in Unix seconds; 0: none
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

// The end of a token by its own word ("exp"), in Unix seconds; 0 where it does not say. Nothing is verified.
int64_t EndOfToken(std::string_view token);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_GOOGLE_TOKEN_H_
