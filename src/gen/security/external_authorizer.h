#ifndef FAIRLEAD_GEN_SECURITY_EXTERNAL_AUTHORIZER_H_
#define FAIRLEAD_GEN_SECURITY_EXTERNAL_AUTHORIZER_H_

#include <optional>
#include <string_view>
#include <vector>

#include "envoy/extensions/filters/http/ext_authz/v3/ext_authz.pb.h"
#include "envoy/extensions/filters/network/ext_authz/v3/ext_authz.pb.h"
#include "gen/hosts/provider_service.h"

namespace istio::mesh::v1alpha1 {
class MeshConfig;
}

namespace fairlead::gen::security {

// The filters that ask an extension provider of external authorization, but for the metadata that turns them
// on.
struct ExternalAuthorizer {
  envoy::extensions::filters::http::ext_authz::v3::ExtAuthz http;
  // Null for a provider that speaks HTTP: connections are not its business.
  std::optional<envoy::extensions::filters::network::ext_authz::v3::ExtAuthz> tcp;
};

// nullopt: no such provider, a name that occurs twice or is no DNS label, an unknown service, or a malformed
// field. Pure. Source: Istio's processExtensionProvider; API: MeshConfig.ExtensionProvider.
std::optional<ExternalAuthorizer> FindAuthorizer(const istio::mesh::v1alpha1::MeshConfig& mesh,
                                                 const std::vector<ProviderService>& services,
                                                 std::string_view name);

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_EXTERNAL_AUTHORIZER_H_
