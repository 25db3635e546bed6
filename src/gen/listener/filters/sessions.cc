#include "gen/route/sessions.h"

#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {

// Does nothing by itself: routes and virtual hosts say whose sessions are kept.
void AddSessions(const FilterRequest& request, HttpFilters* out) {
  if (!request.traits.settings->features.sessions || request.options.traffic == TrafficClass::kInbound)
    return;
  auto* filter = out->Add();
  filter->set_name(std::string(route::kSessionFilter));
  proto::PackEmpty("envoy.extensions.filters.http.stateful_session.v3.StatefulSession",
                   filter->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
