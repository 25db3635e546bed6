#include "model/spiffe.h"

#include "base/strings.h"

namespace fairlead::model {

std::string SpiffeId(std::string_view trust_domain, std::string_view ns, std::string_view service_account) {
  return StrCat(kSpiffePrefix, ReplaceAll(trust_domain, "@", "."), "/ns/", ns, "/sa/", service_account);
}

}  // namespace fairlead::model
