#include "agent/proofs.h"

#include <tuple>

#include "agent/bootstrap/workload_addresses.h"
#include "base/strings.h"
#include "ca/secret_file.h"

namespace fairlead::agent {
namespace {

absl::StatusOr<std::string> ReadRoots(const ControlPlaneOptions& options) {
  return ca::ReadSecretFile(options.roots_file == kSystem ? kSystemRoots : options.roots_file);
}

// Source: Istio, security.Options.ClusterID, CAHeaders.
void AddMetadata(const ControlPlaneOptions& options, Proofs* proofs) {
  if (!options.cluster_id.empty()) proofs->metadata.emplace_back("clusterid", options.cluster_id);
  proofs->metadata.insert(proofs->metadata.end(), options.headers.begin(), options.headers.end());
}

absl::Status AddToken(const ControlPlaneOptions& options, Proofs* proofs) {
  const auto token = ca::ReadSecretFile(options.token_file);
  if (token.ok()) proofs->metadata.emplace_back("authorization", StrCat("Bearer ", Trim(*token)));
  return token.status();
}

}  // namespace

UpstreamOptions PlaceOf(const ControlPlaneOptions& options) {
  constexpr int kHttpsPort = 443;
  UpstreamOptions place;
  std::tie(place.host, place.port) = SplitAddress(options.address, kHttpsPort);
  place.tls = !options.plaintext;
  place.server_name = options.server_name;
  return place;
}

absl::StatusOr<Proofs> ReadProofs(const ControlPlaneOptions& options, const Secret& earlier) {
  Proofs proofs{earlier, "", {}};
  if (!options.plaintext) {
    auto roots = ReadRoots(options);
    if (!roots.ok()) {
      return absl::UnavailableError(StrCat(
          "no root that vouches for the control plane: ", FromAbsl(roots.status().message()),
          "; discovery puts it into root-cert.pem in its --stateDir, XDS_ROOT_CA names the agent's copy"));
    }
    proofs.roots = *std::move(roots);
  }
  absl::Status provided;
  if (earlier.key.empty() && !options.certificate_folder.empty()) {
    auto chain = ca::ReadSecretFile(StrCat(options.certificate_folder, "/cert-chain.pem"));
    auto key = ca::ReadSecretFile(StrCat(options.certificate_folder, "/key.pem"));
    provided = chain.ok() ? key.status() : chain.status();
    if (provided.ok()) proofs.own = {*std::move(chain), *std::move(key), ""};
  }
  AddMetadata(options, &proofs);
  if (options.token_file.empty()) return provided.ok() ? proofs : absl::StatusOr<Proofs>(provided);
  const absl::Status token = AddToken(options, &proofs);
  // At first the folder may be empty: its certificate is then the first one of the agent's own.
  if (!token.ok() && !provided.ok()) return provided;
  if (!token.ok() && proofs.own.key.empty()) {  // there is nothing else
    return absl::UnavailableError(StrCat("no token for the workload's identity: ", FromAbsl(token.message()),
                                         "; FAIRLEAD_TOKEN_FILE names its file, `fairlead token` makes one"));
  }
  return proofs;
}

Proofs ProofsOfCertificate(const ControlPlaneOptions& options, const Secret& own, const std::string& roots,
                           bool with_token) {
  Proofs proofs{own, roots, {}};
  if (!options.roots_file.empty()) {
    if (const auto more = ReadRoots(options); more.ok())
      proofs.roots += StrCat(proofs.roots.ends_with('\n') ? "" : "\n", *more);
  }
  AddMetadata(options, &proofs);
  if (with_token) static_cast<void>(AddToken(options, &proofs));
  return proofs;
}

}  // namespace fairlead::agent
