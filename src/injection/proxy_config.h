#ifndef FAIRLEAD_INJECTION_PROXY_CONFIG_H_
#define FAIRLEAD_INJECTION_PROXY_CONFIG_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/labels.h"
#include "config/object.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1beta1/proxy_config.pb.h"

namespace fairlead::injection {

using ProxyConfig = istio::mesh::v1alpha1::ProxyConfig;

// A ProxyConfig object of the mesh.
struct ProxyConfigResource {
  std::string ns;
  std::shared_ptr<const istio::networking::v1beta1::ProxyConfig> spec;
};
// The oldest first.
using ProxyConfigResources = std::vector<ProxyConfigResource>;

// Of the ProxyConfigs among objects, in the order in which they count: by time, name and namespace.
ProxyConfigResources SortedProxyConfigs(std::vector<config::ConfigPtr> objects);

// Lays a text, YAML or JSON, over a ProxyConfig: proxyMetadata key by key, all else replaced. Unknown fields
// are passed over. InvalidArgument where it cannot be read; `proxy` is of no use then.
absl::Status ApplyProxyConfig(std::string_view text, ProxyConfig* proxy);

// The ProxyConfig of a workload: the mesh's, the object of the root namespace, that of its own, the
// annotation proxy.istio.io/config (null: none), and the object that selects it. An annotation that cannot be
// read counts as none.
ProxyConfig ProxyConfigOf(const ProxyConfig& mesh, std::string_view root_namespace,
                          const ProxyConfigResources& resources, const std::string& ns,
                          const LabelMap& labels, const std::string* annotation);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_PROXY_CONFIG_H_
