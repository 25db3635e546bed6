#include "push/stream/proxy_warning.h"

#include "mesh/index/peer_authentication.h"

namespace fairlead::push {

std::string WarningFor(const mesh::ProxyScope& scope) {
  if (scope.proxy->type != model::ProxyType::kSidecar) return "";
  if (model::RawText(scope.proxy->metadata, kCertificatesKey) != "none") return "";
  if (scope.peer_authentication->mode == mesh::MutualTlsMode::kDisable) return "";
  return "it has no certificates, and its inbound listener offers mutual TLS: Envoy waits for secrets and "
         "does "
         "not listen. Let its agent ask an authority (discovery address with port 15012, or CA_ADDR), or "
         "have a "
         "PeerAuthentication of mode DISABLE for it";
}

}  // namespace fairlead::push
