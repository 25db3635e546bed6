#ifndef FAIRLEAD_AGENT_STATUS_FROM_HERE_H_
#define FAIRLEAD_AGENT_STATUS_FROM_HERE_H_

#include "server/http_server.h"

namespace fairlead::agent {

// Whether a request comes from this machine, for pages that are for nobody else.
bool IsFromHere(const server::HttpRequest& request);
// What others get.
server::HttpResponse OnlyFromHere();

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_STATUS_FROM_HERE_H_
