#ifndef FAIRLEAD_CONTROLLERS_TRUST_BUNDLE_WRITER_H_
#define FAIRLEAD_CONTROLLERS_TRUST_BUNDLE_WRITER_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "kube/api_writer.h"

namespace fairlead::controllers {

// Keeps the ClusterTrustBundle with the mesh's root certificates, as long as this replica leads. What it says
// is looked at whenever the roots change, and once in a while.
// Source: Istio's pilot/pkg/config/kube/clustertrustbundle
class TrustBundleWriter {
 public:
  struct Options {
    std::function<bool()> leads;              // any thread
    std::chrono::milliseconds check{60'000};  // how often it is looked at
  };
  // The writer must outlive it, or be stopped before it goes.
  TrustBundleWriter(Options options, kube::ApiWriter* writer);

  // The roots, in PEM, from now on. Nothing is written before. Thread-safe.
  void SetRoots(std::string roots);
  // This replica leads from now on. Thread-safe.
  void OnLeading();

 private:
  using Answer = kube::ApiAnswer;
  void Look();
  void OnRead(const std::string& roots, const Answer& answer);
  void Send(kube::ApiRequest request, bool create);
  void Later();
  std::string Collection() const;

  const Options options_;
  kube::ApiWriter* const writer_;
  std::mutex mutex_;
  std::string roots_;  // guarded by mutex_
  // What follows is of the writer's thread.
  bool running_ = false, again_ = false, planned_ = false;
  size_t version_ = 0;   // of those of the API that there are
  std::string trouble_;  // as last logged
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_TRUST_BUNDLE_WRITER_H_
