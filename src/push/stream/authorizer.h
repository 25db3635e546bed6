#ifndef FAIRLEAD_PUSH_STREAM_AUTHORIZER_H_
#define FAIRLEAD_PUSH_STREAM_AUTHORIZER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/peer_identity.h"
#include "model/proxy.h"

namespace fairlead::push {

// The other end of a stream, as its transport knows it.
struct StreamPeer {
  std::string address = {};  // "ipv4:10.0.0.1:43210"
  // SPIFFE ids that the transport has verified, by a certificate or a token; none on a plaintext connection.
  std::vector<std::string> identities = {};
};

// Decides, once a stream, who the peer is and whether it may act as the proxy that it says it is.
// Thread-safe.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // The verified identity; nothing for a peer that is nobody, which is sent configuration but no secrets and
  // may inspect nothing. PermissionDenied ends the stream.
  virtual absl::StatusOr<std::optional<model::PeerIdentity>> Authorize(const StreamPeer& peer,
                                                                       const model::Proxy& proxy) const = 0;
};

// Istio's rule: of a peer with identities one must be of the proxy's namespace and, where its metadata names
// one, service account. Source: checkConnectionIdentity (PILOT_ENABLE_XDS_IDENTITY_CHECK).
class NodeAuthorizer : public Authorizer {
 public:
  // `believe_plaintext`: a peer without identities is who it says it is, in closed networks and tests.
  // Without `check`, one with identities may act as any proxy, and is the first of them.
  explicit NodeAuthorizer(bool believe_plaintext, bool check = true)
      : believe_plaintext_(believe_plaintext), check_(check) {}
  absl::StatusOr<std::optional<model::PeerIdentity>> Authorize(const StreamPeer& peer,
                                                               const model::Proxy& proxy) const override;

 private:
  const bool believe_plaintext_, check_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_AUTHORIZER_H_
