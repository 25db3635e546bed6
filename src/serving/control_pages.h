#ifndef FAIRLEAD_SERVING_CONTROL_PAGES_H_
#define FAIRLEAD_SERVING_CONTROL_PAGES_H_

#include "server/http_server.h"

namespace fairlead::serving {

// The pages of Istio's ControlZ for the log of a running process, used by `istioctl admin log` and by people.
// /scopez is for people. /scopej/ lists scopes as JSON, /scopej/SCOPE shows one, and PUT there sets its
// output_level and log_callers. Levels last as long as the process. Everybody who reaches the server may.
// Source: Istio, pkg/ctrlz/topics/scopes.go
void AddControlPages(server::HttpServer* server);

}  // namespace fairlead::serving

#endif  // FAIRLEAD_SERVING_CONTROL_PAGES_H_
