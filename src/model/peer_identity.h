#ifndef FAIRLEAD_MODEL_PEER_IDENTITY_H_
#define FAIRLEAD_MODEL_PEER_IDENTITY_H_

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::model {

// Who a peer is, as far as it has been verified: a workload's service account.
struct PeerIdentity {
  std::string trust_domain, ns, service_account;
  friend bool operator==(const PeerIdentity&, const PeerIdentity&) = default;
};

// Of "spiffe://trust-domain/ns/namespace/sa/account"; nothing where the text is none.
std::optional<PeerIdentity> ParseSpiffeId(std::string_view text);

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_PEER_IDENTITY_H_
