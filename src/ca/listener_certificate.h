#ifndef FAIRLEAD_CA_LISTENER_CERTIFICATE_H_
#define FAIRLEAD_CA_LISTENER_CERTIFICATE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "ca/authority.h"
#include "http2/tls.h"
#include "source/file/watched_files.h"

namespace fairlead::ca {

struct ListenerCertificateOptions {
  // The names of certificates from the authority: istiod's, "istiod.istio-system.svc", and
  // ISTIOD_CUSTOM_HOST's.
  std::vector<std::string> names;
  std::chrono::seconds lifetime = std::chrono::hours(24);
  // An operator's own, PEM: these go before. `roots_files` vouch for clients, besides the authority's roots.
  std::string chain_file, key_file;
  std::vector<std::string> roots_files;
  // How long until a new certificate is asked for, or files are read, again that could not be used.
  std::chrono::milliseconds retry = std::chrono::seconds(1);
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
  // Thread-safe.
  absl::Status Look();

 private:
  void Run();
  absl::Status LookLocked();
  std::vector<std::string> Files() const;
  Clock::time_point NextLook(const absl::Status& status) const;
  absl::StatusOr<http2::TlsMaterial> Make();
  absl::StatusOr<http2::TlsMaterial> Read() const;
  bool Due() const;

  const ListenerCertificateOptions options_;
  Authority* const authority_;
  const Take take_;
  BundlePtr of_bundle_;                                // that the last material was made with
  int64_t made_ = 0, ends_ = 0;                        // of a certificate that the authority gave
  http2::TlsMaterial shown_;                           // last
  std::string broken_;                                 // what was logged last
  std::mutex looking_;                                 // held while something is looked at, with all above
  const std::shared_ptr<source::WatchedFiles> watch_;  // the authority may wake it later than this lives
  std::mutex mutex_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_LISTENER_CERTIFICATE_H_
