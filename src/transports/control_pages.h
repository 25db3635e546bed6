#ifndef FAIRLEAD_TRANSPORTS_CONTROL_PAGES_H_
#define FAIRLEAD_TRANSPORTS_CONTROL_PAGES_H_

#include "rpc/http_server.h"

namespace fairlead::transports {

// The pages of Istio's ControlZ for the log of a running process, used by `istioctl admin log` and by people.
// /scopez is for people. /scopej/ lists scopes as JSON, /scopej/SCOPE shows one, and PUT there sets its
// output_level and log_callers. Levels last as long as the process. Everybody who reaches the server may.
// Source: Istio, pkg/ctrlz/topics/scopes.go
void AddControlPages(rpc::HttpServer* server);

}  // namespace fairlead::transports

#endif  // FAIRLEAD_TRANSPORTS_CONTROL_PAGES_H_
