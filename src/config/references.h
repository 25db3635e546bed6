#ifndef FAIRLEAD_CONFIG_REFERENCES_H_
#define FAIRLEAD_CONFIG_REFERENCES_H_

#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "config/store.h"

namespace fairlead::config {

// What VirtualServices refer to and nobody has, as warnings under the codes of Istio's analysis:
//   IST0101  a destination's host or subset, or a Gateway, that is nowhere
//   IST0109  a host that several VirtualServices of the mesh's own proxies have, of which one counts
//   IST0132  a Gateway that serves none of the VirtualService's hosts
// An object's annotation galley.istio.io/analyze-suppress ("IST0101,IST0132", "*") silences them. REQUIRES:
// the stores are a whole mesh: `written` has the VirtualServices, `all` the hosts and Gateways too that were
// made of other objects. Source: istio.io/latest/docs/reference/config/analysis
std::vector<Diagnostic> FindLostReferences(const ObjectStore& written, const ObjectStore& all,
                                           std::string_view domain);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_REFERENCES_H_
