#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_LISTENER_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_LISTENER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "config/tree.h"
#include "gateway_api/condition.h"
#include "gateway_api/group_kind.h"
#include "gateway_api/lookups.h"

namespace istio::networking::v1alpha3 {
class Server;
}

namespace fairlead::gateway_api {

// The number of a listener. One of a ListenerSet may leave it out: 80 for HTTP, 443 for HTTPS, else 0, which
// is an error.
int64_t ListenerPort(const config::ConfigObject& owner, config::Node listener);

// The kinds of routes that a listener takes: those of its protocol that it allows. *all_valid: whether it
// allows no others. `udp`: see Features::udp_routes.
std::vector<GroupKind> SupportedKinds(config::Node listener, bool udp, bool* all_valid);

// One listener as Istio sees it.
struct ConvertedListener {
  std::string name;
  std::string hostname, protocol;  // as written
  int64_t port = 0;
  std::vector<GroupKind> supported_kinds;
  std::vector<DraftCondition> conditions;
  bool conflicted = false;
  bool valid = false;  // counts as one of the good ones
  // Null where routes cannot be attached: conflicted, or TLS without a TLS section.
  std::shared_ptr<const istio::networking::v1alpha3::Server> server;
};

// `gateway`: the spec of the Gateway that `owner` is, or that `owner` (a ListenerSet) is attached to.
ConvertedListener BuildListener(const config::ConfigObject& owner, config::Node gateway,
                                config::Node listener, Lookups& lookups);
// One that lost to an earlier one for that reason.
ConvertedListener ConflictedListener(const config::ConfigObject& owner, config::Node listener,
                                     std::string_view reason, const Lookups& lookups);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_LISTENER_H_
