#ifndef FAIRLEAD_GEN_SECRET_INPUTS_H_
#define FAIRLEAD_GEN_SECRET_INPUTS_H_

#include <string>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "config/object.h"
#include "mesh/view/view.h"

namespace fairlead::gen::secret {

// Everything that one secret is made from.
struct SecretInputs {
  Interned name;             // as it was asked for
  config::ConfigPtr object;  // the Secret or ConfigMap
  bool roots = false;        // those alone, else certificate and key
  Interned key_provider;     // of the client's ProxyConfig, encoded; "": Envoy works with the key itself

  friend bool operator==(const SecretInputs&, const SecretInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const SecretInputs& i) {
    return H::combine(std::move(h), i.name, i.object, i.roots, i.key_provider);
  }
};

struct Collected {
  std::vector<SecretInputs> secrets;  // in the order of the names
  std::vector<std::string> refusals;  // why the others are not there; no content of secrets
};

// The secrets of `names` that the client may have: nothing for one that has not proven who it is; those of
// its namespace for gateways and FAIRLEAD_SECRET_READERS (AccessToSecrets); of other namespaces none, but
// what a Gateway that it serves refers to and may (kubernetes-gateway://), and roots that ConfigMaps hold,
// which are public. Source: Istio's SecretGen.
Collected Collect(mesh::View& view, const std::vector<std::string>& names);

}  // namespace fairlead::gen::secret

#endif  // FAIRLEAD_GEN_SECRET_INPUTS_H_
