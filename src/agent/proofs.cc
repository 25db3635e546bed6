#include "agent/proofs.h"

#include <tuple>

#include "agent/bootstrap/workload_addresses.h"
#include "base/strings.h"
#include "ca/secret_file.h"

namespace fairlead::agent {

UpstreamOptions PlaceOf(const ControlPlaneOptions& options) {
  constexpr int kHttpsPort = 443;
  UpstreamOptions place;
  std::tie(place.host, place.port) = SplitAddress(options.address, kHttpsPort);
  place.tls = true;
  place.server_name = options.server_name;
  return place;
}

absl::StatusOr<Proofs> ReadProofs(const ControlPlaneOptions& options, const Secret& earlier) {
  auto roots = ca::ReadSecretFile(options.roots_file);
  if (!roots.ok()) {
    return absl::UnavailableError(StrCat(
        "no root that vouches for the control plane: ", FromAbsl(roots.status().message()),
        "; discovery puts it into root-cert.pem in its --stateDir, XDS_ROOT_CA names the agent's copy"));
  }
  Proofs proofs{earlier, *std::move(roots), {}};
  if (earlier.key.empty() && !options.certificate_folder.empty()) {
    auto chain = ca::ReadSecretFile(StrCat(options.certificate_folder, "/cert-chain.pem"));
    if (!chain.ok()) return chain.status();
    auto key = ca::ReadSecretFile(StrCat(options.certificate_folder, "/key.pem"));
    if (!key.ok()) return key.status();
    proofs.own = {*std::move(chain), *std::move(key), ""};
  }
  if (!options.cluster_id.empty()) proofs.metadata.emplace_back("clusterid", options.cluster_id);
  if (options.token_file.empty()) return proofs;
  const auto token = ca::ReadSecretFile(options.token_file);
  if (token.ok()) {
    proofs.metadata.emplace_back("authorization", StrCat("Bearer ", Trim(*token)));
  } else if (proofs.own.key.empty()) {  // there is nothing else
    return absl::UnavailableError(
        StrCat("no token for the workload's identity: ", FromAbsl(token.status().message()),
               "; FAIRLEAD_TOKEN_FILE names its file, `fairlead token` makes one"));
  }
  return proofs;
}

}  // namespace fairlead::agent
