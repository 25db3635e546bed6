#ifndef FAIRLEAD_CA_SECRET_REVIEWS_H_
#define FAIRLEAD_CA_SECRET_REVIEWS_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "kube/api_request.h"
#include "model/secret_readers.h"

namespace fairlead::ca {

struct SecretReviewOptions {
  // One request to the API server of a cluster; see kube::ReviewServers.
  std::function<void(const std::string& cluster, kube::ApiRequest,
                     std::function<void(const kube::ApiAnswer&)> done)>
      send;
  std::function<void(model::SecretReadersPtr)> take;  // hears of each change
  bool other_clusters = true;                         // false: accounts of other clusters may have nothing
  // After that a verdict is asked for anew. Source: Istio's CredentialsController.
  std::chrono::milliseconds keep_allowed{300'000}, keep_denied{60'000};
  std::chrono::milliseconds first_retry{500}, most_retry{60'000};  // of a server that gives no verdict
  std::chrono::milliseconds gather{20};                            // verdicts that are told together
  size_t most = 10'000;                                            // accounts
};

// Asks API servers which accounts may list the Secrets of their namespaces: once an account asks for one, and
// again after a while. A verdict stays until there is another. Without a verdict an account may have nothing.
// To be held by a shared pointer. Thread-safe.
class SecretReviews : public model::SecretReviewer, public std::enable_shared_from_this<SecretReviews> {
 public:
  explicit SecretReviews(SecretReviewOptions options) : options_(std::move(options)) {}
  ~SecretReviews() override;  // as Stop()
  // Tells that there is somebody to ask.
  void Start();
  void Stop();
  void Want(const model::ClusterAccount& account) const override;

 private:
  struct Account {
    model::SecretAccess access = model::SecretAccess::kUnknown;
    Clock::time_point due{};  // when it is to be asked about
    bool asked = false;       // and is not answered yet
    int failures = 0;         // in a row
    std::string trouble = {};
  };
  model::SecretReadersPtr Readers();
  void Run();
  void Ask(const model::ClusterAccount& account);
  void OnAnswer(const model::ClusterAccount& account, const kube::ApiAnswer& answer);
  void Note(const model::ClusterAccount& account, model::SecretAccess access);

  const SecretReviewOptions options_;
  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  mutable std::map<model::ClusterAccount, Account> accounts_;  // guarded by mutex_, as all below
  mutable bool full_ = false, woken_ = false;
  bool changed_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_SECRET_REVIEWS_H_
