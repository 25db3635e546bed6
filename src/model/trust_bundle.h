#ifndef FAIRLEAD_MODEL_TRUST_BUNDLE_H_
#define FAIRLEAD_MODEL_TRUST_BUNDLE_H_

#include <memory>
#include <string>
#include <vector>

namespace fairlead::model {

// The certificates of authorities that workloads are to trust, whatever authority gave them their own: PEM,
// one each, sorted, each once. Immutable.
using TrustBundle = std::vector<std::string>;
// Null: workloads trust what comes with their certificate, and nothing else.
using TrustBundlePtr = std::shared_ptr<const TrustBundle>;

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_TRUST_BUNDLE_H_
