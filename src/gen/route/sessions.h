#ifndef FAIRLEAD_GEN_ROUTE_SESSIONS_H_
#define FAIRLEAD_GEN_ROUTE_SESSIONS_H_

#include <string>
#include <string_view>

#include "base/labels.h"
#include "model/features.h"

namespace google::protobuf {
class Any;
}

// Sessions that stay with one endpoint: services ask for them by a label. Source: Istio's
// MaybeBuildStatefulSessionFilterConfig; Envoy, "Stateful session filter".
namespace fairlead::gen::route {

inline constexpr std::string_view kSessionFilter = "envoy.filters.http.stateful_session";

// How the service's clients say which endpoint their session is with, an encoded StatefulSession: by a cookie
// ("name" or "name:path"), else by a header. Empty where it has no such label, or the feature is off. Pure.
std::string SessionOf(const model::Features& features, const LabelMap& labels);

// The same as what a route says to the filter. `session` is not empty.
void PackSession(const std::string& session, google::protobuf::Any* out);
// The same as an encoded field of Envoy's VirtualHost, its last one; "" for "".
std::string EncodedHostSession(const std::string& session);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_SESSIONS_H_
