#include "ca/cluster_keys.h"

#include <memory>
#include <utility>

#include "base/json.h"
#include "base/strings.h"

namespace fairlead::ca {
namespace {

// Source: kubernetes.io/docs/tasks/configure-pod-container/configure-service-account
// (service account issuer discovery).
constexpr char kDocument[] = "/.well-known/openid-configuration", kKeys[] = "/openid/v1/jwks";
constexpr std::chrono::seconds kLimit{5};

}  // namespace

Fetch ClusterKeys(std::string issuer, std::function<kube::ApiAnswer(kube::ApiRequest)> ask, Fetch other) {
  const auto get = [ask = std::move(ask)](const char* path) {
    kube::ApiRequest request;
    request.path = path;
    request.limit = kLimit;
    request.tries = 2;
    return ask(std::move(request));
  };
  // Where the keys are, as the API server's document says; "": it has no document of the issuer.
  auto keys = std::make_shared<std::string>();
  return [issuer = std::move(issuer), get, other = std::move(other),
          keys](const std::string& url) -> absl::StatusOr<std::string> {
    if (url.ends_with(kDocument)) {
      keys->clear();
      const kube::ApiAnswer answer = get(kDocument);
      const auto document = answer.status.ok() ? ParseJson(answer.body) : std::nullopt;
      if (!document || !document->is_object() || JsonString(*document, "issuer") != issuer) return other(url);
      *keys = JsonString(*document, "jwks_uri");
      return answer.body;
    }
    if (keys->empty() || url != *keys) return other(url);
    kube::ApiAnswer answer = get(kKeys);
    if (!answer.status.ok()) return answer.status;
    return std::move(answer.body);
  };
}

}  // namespace fairlead::ca
