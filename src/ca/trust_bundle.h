#ifndef FAIRLEAD_CA_TRUST_BUNDLE_H_
#define FAIRLEAD_CA_TRUST_BUNDLE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "ca/certificate.h"
#include "ca/token_key_source.h"
#include "model/trust_bundle.h"
#include "source/file/watched_files.h"

namespace fairlead::ca {

// The certificates of a SPIFFE bundle, a JSON Web Key Set whose keys of use "x509-svid" each have one
// authority's certificate ("x5c"). InvalidArgument where there is none, or one cannot be read or may not
// sign. Source: SPIFFE Trust Domain and Bundle, 4.
absl::StatusOr<Certificates> ReadSpiffeBundle(std::string_view json);

struct TrustBundleOptions {
  std::string roots_file;  // of a signer elsewhere, watched; "": SetRoots says them
  std::chrono::milliseconds refresh = std::chrono::minutes(30);     // of each address
  std::chrono::milliseconds first_retry = std::chrono::seconds(5);  // then twice as long, up to `refresh`
  Fetch fetch = FetchDocument;
};

// The roots that workloads trust: the signer's, the MeshConfig's (caCertificates: pem), and those of the
// SPIFFE bundles at its addresses (spiffeBundleUrl). A thread of its own fetches the bundles. Unreadable
// roots are logged and skipped; the last good certificates of a silent address stay. Thread-safe. Source:
// Istio's pilot/pkg/trustbundle.
class TrustBundle {
 public:
  // `take` is given each new bundle, on the thread that brought it about, one after the other.
  TrustBundle(TrustBundleOptions options, std::function<void(model::TrustBundlePtr)> take);
  ~TrustBundle();  // as Stop()
  void Start();
  void Stop();

  void SetRoots(const Certificates& roots);
  // From now on. An address without a scheme is of https.
  void SetMesh(const std::vector<std::string>& pems, const std::vector<std::string>& addresses);
  // Looks at the file and asks the addresses whose time has come, as the thread does; for tests.
  void Look(Clock::time_point now);

 private:
  struct Address {
    Certificates certificates;           // the last good
    Clock::time_point next{};            // when it is asked
    std::chrono::milliseconds retry{0};  // after the next failure
    std::string broken;                  // what was logged last
  };
  void Run();
  void LookAtFile();
  void Ask(const std::string& address, Clock::time_point now);
  Clock::time_point NextLook();
  void Tell();

  const TrustBundleOptions options_;
  const std::function<void(model::TrustBundlePtr)> take_;
  std::string file_text_;  // the thread's
  std::mutex telling_;     // held while `take_` runs; before mutex_
  std::mutex mutex_;
  source::WatchedFiles watch_{std::chrono::milliseconds(10)};  // the file; of the thread
  bool stopping_ = false;                                      // guarded by mutex_
  Certificates roots_, of_mesh_;                               // guarded by mutex_
  std::vector<std::string> pems_;             // that of_mesh_ was read from; guarded by mutex_
  std::map<std::string, Address> addresses_;  // guarded by mutex_
  model::TrustBundlePtr told_;                // guarded by telling_
  std::thread thread_;
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_TRUST_BUNDLE_H_
