#ifndef FAIRLEAD_KUBE_ACCESS_H_
#define FAIRLEAD_KUBE_ACCESS_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fetch/request.h"

namespace fairlead::kube {

// A program that prints credentials.
// Source: kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
struct ExecPlugin {
  std::string command;  // a path, or a name that PATH finds
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // besides the process's own
  std::string api_version;                         // client.authentication.k8s.io/v1
  std::string install_hint;                        // where there is no such program
  bool tell_cluster = false;                       // whether it is told which cluster it is for
};

// How to reach an API server, and as whom. A plain value; holds secrets: not to be logged.
struct ServerAccess {
  std::string server;           // "https://10.0.0.1:6443", without a slash at its end
  fetch::TlsSettings tls = {};  // its own certificate, too, where that is written out
  std::optional<std::string> proxy = {};
  std::string certificate_file = {}, key_file = {};  // read for each request, as they are rotated
  std::string token = {}, token_file = {};           // the latter read for each request; at most one of them
  std::vector<std::string> headers = {};             // of whom to act for
  std::optional<ExecPlugin> exec = {};
  std::string described = {};  // for people: "context dev of /etc/kubeconfig"
};

// Reads a kubeconfig. `context`: "" for its current one. InvalidArgument names file, line and field; NotFound
// and PermissionDenied the file. Paths in it are relative to its folder; the files that they name are read
// later. Nothing secret is quoted. Fields that are not known are passed over.
// Source: kubernetes.io/docs/reference/config-api/kubeconfig.v1
absl::StatusOr<ServerAccess> ReadKubeconfig(const std::string& path, std::string_view context = "");
// The same of a text; `path` for messages and for what is relative to it.
absl::StatusOr<ServerAccess> ParseKubeconfig(std::string_view text, const std::string& path,
                                             std::string_view context = "");

// The same of a text by somebody who is not to see this machine's files or to run its programs. Of its users,
// the unused ones too, only tokens, certificates that are written out and impersonation are accepted, and
// besides what `accepted` names: clientCertificate, clientKey, tokenFile, exec. Paths are relative to the
// working folder; `where` is for messages. Source: Istio's NewUntrustedRestConfig.
absl::StatusOr<ServerAccess> ParseUntrustedKubeconfig(std::string_view text, const std::string& where,
                                                      const std::set<std::string, std::less<>>& accepted);

// Of a pod's service account: KUBERNETES_SERVICE_HOST and _PORT, and the folder with its token and roots.
inline constexpr char kServiceAccountFolder[] = "/var/run/secrets/kubernetes.io/serviceaccount";
absl::StatusOr<ServerAccess> InClusterAccess(std::string_view host, std::string_view port,
                                             const std::string& folder = kServiceAccountFolder);

// A small file; bytes beyond 1 MiB are an error. The message names the path.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_ACCESS_H_
