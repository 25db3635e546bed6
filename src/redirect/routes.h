#ifndef FAIRLEAD_REDIRECT_ROUTES_H_
#define FAIRLEAD_REDIRECT_ROUTES_H_

#include "absl/status/status.h"
#include "redirect/options.h"

namespace fairlead::redirect {

// Besides the rules: with IPv6 the address ::6 on loopback, the source of the proxy's inbound connections;
// with TPROXY a routing rule for marked packets and a table that leads them to this machine. By netlink, in
// this thread's network namespace; an address and a route that are there already are no error. Unavailable
// says which of these failed, and why.
absl::Status ApplyRoutes(const RedirectOptions& options);

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_ROUTES_H_
