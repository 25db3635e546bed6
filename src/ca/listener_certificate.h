#ifndef FAIRLEAD_CA_LISTENER_CERTIFICATE_H_
#define FAIRLEAD_CA_LISTENER_CERTIFICATE_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ca/authority.h"
#include "http2/tls.h"

namespace fairlead::ca {

struct ListenerCertificateOptions {
  // The names of certificates from the authority: istiod's, "istiod.istio-system.svc", and
  // ISTIOD_CUSTOM_HOST's.
  std::vector<std::string> names;
  std::chrono::seconds lifetime = std::chrono::hours(24);
  // An operator's own, PEM: these go before. `roots_files` vouch for clients, besides the authority's roots.
  std::string chain_file, key_file;
  std::vector<std::string> roots_files;
  std::chrono::milliseconds poll = std::chrono::seconds(1);  // how often files and the age are looked at
  UnixClock now = UnixNow;
};

// Keeps the certificate of a TLS listener up to date, by a thread of its own. The authority's certificate is
// renewed at half of its lifetime, and when the authority changes. An operator's files are watched. An
// unusable certificate is logged, and the last good one stays.
class ListenerCertificate {
 public:
  using Take = std::function<absl::Status(const http2::TlsMaterial&)>;

  // `take` is given each new material, in Start on the caller's thread, later on others. All pointers must
  // outlive it.
  ListenerCertificate(ListenerCertificateOptions options, Authority* authority, Take take);
  ~ListenerCertificate();  // as Stop()
  // Fails where there is nothing that can be shown.
  absl::Status Start();
  void Stop();
  // One look at everything, as the thread takes it; for tests. The status of an unusable certificate.
  absl::Status Look();

 private:
  void Run();
  absl::StatusOr<http2::TlsMaterial> Make();
  absl::StatusOr<http2::TlsMaterial> Read() const;
  bool Due() const;

  const ListenerCertificateOptions options_;
  Authority* const authority_;
  const Take take_;
  BundlePtr of_bundle_;          // that the last material was made with
  int64_t made_ = 0, ends_ = 0;  // of a certificate that the authority gave
  http2::TlsMaterial shown_;     // last
  std::string broken_;           // what was logged last
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_LISTENER_CERTIFICATE_H_
