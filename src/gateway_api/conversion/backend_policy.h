#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_BACKEND_POLICY_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_BACKEND_POLICY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/object.h"
#include "gateway_api/condition.h"
#include "gateway_api/lookups.h"

namespace istio::networking::v1alpha3 {
class ClientTLSSettings;
}

namespace fairlead::gateway_api {

// What a BackendTLSPolicy says of one host.
struct BackendRule {
  config::ConfigPtr policy;
  config::ObjectKey target;  // the Service or ServiceEntry
  std::string host;
  std::optional<std::string> section;  // the name of a port; none: all ports
  std::shared_ptr<const istio::networking::v1alpha3::ClientTLSSettings> tls;
};

// All that a BackendTLSPolicy comes to.
struct PolicyConversion {
  struct Target {
    config::ObjectKey key;  // the Service or ServiceEntry; meaningless where not `resolved`
    bool resolved = false;
    std::vector<DraftCondition> conditions;
  };
  config::ConfigPtr object;
  bool ignored = false;         // by the annotation istio.io/ignore-policy-attachment
  std::vector<Target> targets;  // in the order of spec.targetRefs
  std::vector<BackendRule> rules;
};
using PolicyConversionPtr = std::shared_ptr<const PolicyConversion>;

PolicyConversion ConvertBackendTlsPolicy(const config::ConfigPtr& policy, Lookups& lookups);

// The DestinationRule that the rules for one host of one target become; the oldest policy's rule wins.
// REQUIRES: there are some.
config::ConfigPtr MergeBackendRules(std::vector<BackendRule> rules, Lookups& lookups);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_BACKEND_POLICY_H_
