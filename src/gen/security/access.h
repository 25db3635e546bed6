#ifndef FAIRLEAD_GEN_SECURITY_ACCESS_H_
#define FAIRLEAD_GEN_SECURITY_ACCESS_H_

#include <utility>

#include "gen/security/authentication.h"
#include "gen/security/authorization.h"

namespace fairlead::mesh {
class View;
}

namespace fairlead::gen::security {

// The rules for requests to a workload, or through a router: its AuthorizationPolicies and
// RequestAuthentications. A plain value, comparable; empty for a proxy without any.
struct Access {
  Authorization authorization;
  Authentication authentication;

  bool empty() const { return authorization.empty() && authentication.empty(); }
  friend bool operator==(const Access&, const Access&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Access& a) {
    return H::combine(std::move(h), a.authorization, a.authentication);
  }
};

// The client's inputs for access_filters.h and authentication.h.
Access CollectAccess(mesh::View& view);

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_ACCESS_H_
