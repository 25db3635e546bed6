#include "push/stream/authorizer.h"

#include "base/strings.h"

namespace fairlead::push {

absl::StatusOr<std::optional<model::PeerIdentity>> NodeAuthorizer::Authorize(
    const StreamPeer& peer, const model::Proxy& proxy) const {
  const std::string& account = proxy.metadata.service_account;
  if (peer.identities.empty()) {
    if (!believe_plaintext_) return std::nullopt;
    return model::PeerIdentity{"", proxy.ns, account.empty() ? "default" : account};
  }
  for (const std::string& text : peer.identities) {
    const std::optional<model::PeerIdentity> identity = model::ParseSpiffeId(text);
    if (identity && !check_) return identity;
    if (!identity || (!proxy.ns.empty() && identity->ns != proxy.ns)) continue;
    if (account.empty() || identity->service_account == account) return identity;
  }
  return absl::PermissionDeniedError(StrCat("authorization failed: none of the identities (",
                                            Join(peer.identities, ", "), ") is of ", proxy.ns, "/", account));
}

}  // namespace fairlead::push
