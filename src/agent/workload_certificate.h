#ifndef FAIRLEAD_AGENT_WORKLOAD_CERTIFICATE_H_
#define FAIRLEAD_AGENT_WORKLOAD_CERTIFICATE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/secret_store.h"
#include "ca/authority.h"
#include "ca/key.h"

namespace fairlead::agent {

// Asks an authority for certificates. For one thread.
class CaClient {
 public:
  virtual ~CaClient() = default;
  // The certificate, then what leads to a root, then the roots, all PEM. `earlier`: the previous certificate,
  // as a proof of the agent's identity; empty at first. Blocks, for 10 s at most.
  virtual absl::StatusOr<std::vector<std::string>> Sign(const std::string& csr, std::chrono::seconds lifetime,
                                                        const Secret& earlier) = 0;
};

struct WorkloadCertificateOptions {
  std::string identity;                                    // "spiffe://…", for the request
  std::chrono::seconds lifetime = std::chrono::hours(24);  // SECRET_TTL
  double grace = 0.5;    // SECRET_GRACE_PERIOD_RATIO: the last part of the lifetime, in which it is renewed
  double jitter = 0.01;  // SECRET_GRACE_PERIOD_RATIO_JITTER: more or less of that, by chance
  ca::KeyType key_type = ca::KeyType::kRsa;
  int rsa_bits = 2048;  // WORKLOAD_RSA_KEY_SIZE
  bool pkcs8 = true;    // PKCS8_KEY: the form of the key; else that of its algorithm (PKCS #1, SEC 1)
  std::chrono::milliseconds first_retry{200}, last_retry{30'000};
  ca::UnixClock now = ca::UnixNow;
};

// The workload's certificate and its roots ("default", "ROOTCA"), kept up to date by a thread of its own. The
// key is made here, a new one for each certificate, and given to nobody but the store. Where there is no
// authority to be had, what is valid stays, and is asked for again at growing intervals.
class WorkloadCertificate {
 public:
  // All pointers must outlive it.
  WorkloadCertificate(WorkloadCertificateOptions options, CaClient* client, SecretStore* store);
  ~WorkloadCertificate();  // as Stop()
  void Start();
  void Stop();
  // Renews if that is due; how long to wait until the next time. As the thread does; for tests.
  std::chrono::milliseconds Step();
  // Why there is no certificate yet; "" where there is one, or where it was not asked for yet. Thread-safe.
  std::string difficulty() const;

 private:
  absl::Status Renew();
  absl::Status Take(const std::vector<std::string>& chain, const ca::KeyPtr& key);

  const WorkloadCertificateOptions options_;
  CaClient* const client_;
  SecretStore* const store_;
  Secret current_;
  int64_t renew_at_ = 0, ends_ = 0;  // Unix seconds
  std::chrono::milliseconds retry_;
  // After a failure the other proof is tried: an authority may have a new root, or the token may have ended.
  bool by_earlier_ = true;
  mutable std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;   // guarded by mutex_
  std::string difficulty_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_WORKLOAD_CERTIFICATE_H_
