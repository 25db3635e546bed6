#include "controllers/trust_bundle_writer.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::controllers {
namespace {

using kube::ApiRequest;
using Json = nlohmann::json;

LogScope bundle_log("roots");

constexpr const char* kVersions[] = {"v1beta1", "v1alpha1"};
constexpr char kName[] = "istio.io:istiod-ca:root-cert", kSigner[] = "istio.io/istiod-ca";
constexpr std::chrono::seconds kLimit{5};

}  // namespace

TrustBundleWriter::TrustBundleWriter(Options options, kube::ApiWriter* writer)
    : options_(std::move(options)), writer_(writer) {}

void TrustBundleWriter::SetRoots(std::string roots) {
  {
    std::lock_guard lock(mutex_);
    roots_ = std::move(roots);
  }
  writer_->Run([this] { Look(); });
}

void TrustBundleWriter::OnLeading() {
  writer_->Run([this] { Look(); });
}

std::string TrustBundleWriter::Collection() const {
  return StrCat("/apis/certificates.k8s.io/", kVersions[version_], "/clustertrustbundles");
}

void TrustBundleWriter::Look() {
  std::string roots;
  {
    std::lock_guard lock(mutex_);
    roots = roots_;
  }
  if (running_) again_ = true;
  if (running_ || roots.empty() || !options_.leads()) return;
  running_ = true;
  ApiRequest request;
  request.path = kube::ObjectPath(Collection(), kName);
  request.limit = kLimit;
  writer_->Send(std::move(request), [this, roots](const Answer& answer) { OnRead(roots, answer); });
}

void TrustBundleWriter::OnRead(const std::string& roots, const Answer& answer) {
  const bool create = absl::IsNotFound(answer.status);
  if (!answer.status.ok() && !create) return Send({}, false);
  Json object = {{"spec", {{"trustBundle", roots}}}};
  ApiRequest request;
  if (create) {
    object["apiVersion"] = StrCat("certificates.k8s.io/", kVersions[version_]);
    object["kind"] = "ClusterTrustBundle";
    object["metadata"]["name"] = kName;
    object["spec"]["signerName"] = kSigner;
    request.verb = ApiRequest::Verb::kCreate;
    request.path = Collection();
  } else {
    const auto now = ParseJson(answer.body);
    if (now && JsonString(now->value("spec", Json::object()), "trustBundle") == roots) return Later();
    request.verb = ApiRequest::Verb::kMergePatch;
    request.path = kube::ObjectPath(Collection(), kName);
  }
  request.body = JsonText(object);
  Send(std::move(request), create);
}

// An empty request: the server could not be asked, and is asked later.
void TrustBundleWriter::Send(ApiRequest request, bool create) {
  if (request.path.empty()) return Later();
  request.limit = kLimit;
  request.valid = options_.leads;
  writer_->Send(std::move(request), [this, create](const Answer& answer) {
    if (absl::IsCancelled(answer.status)) {
      running_ = false;
      return;
    }
    std::string trouble(FromAbsl(answer.status.message()));
    if (create && absl::IsNotFound(answer.status)) {
      trouble = "the API server has no ClusterTrustBundles";
      version_ = (version_ + 1) % std::size(kVersions);
      again_ = version_ != 0;
    }
    if (!again_ && !trouble.empty() && trouble != trouble_)
      bundle_log.Warn("the ClusterTrustBundle {} is not written: {}", kName, trouble);
    if (!again_) trouble_ = std::move(trouble);
    Later();
  });
}

void TrustBundleWriter::Later() {
  running_ = false;
  if (std::exchange(again_, false)) return Look();
  if (std::exchange(planned_, true)) return;
  writer_->Run(
      [this] {
        planned_ = false;
        Look();
      },
      Clock::now() + options_.check);
}

}  // namespace fairlead::controllers
