#ifndef FAIRLEAD_CA_CLUSTER_KEYS_H_
#define FAIRLEAD_CA_CLUSTER_KEYS_H_

#include <functional>
#include <string>

#include "ca/token_key_source.h"
#include "kube/api_request.h"

namespace fairlead::ca {

// Documents of an issuer's keys. Where the issuer is that of the cluster's own tokens, its API server gives
// them (/.well-known/openid-configuration and /openid/v1/jwks), to whoever may ask it; all else is `other`'s.
// `ask`: one request to the API server; blocks. One thread at a time.
Fetch ClusterKeys(std::string issuer, std::function<kube::ApiAnswer(kube::ApiRequest)> ask,
                  Fetch other = FetchDocument);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_CLUSTER_KEYS_H_
