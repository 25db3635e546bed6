#ifndef FAIRLEAD_CONFIG_QUOTING_H_
#define FAIRLEAD_CONFIG_QUOTING_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "config/kind.h"
#include "config/object.h"

// What messages may say of a document's own words. Messages go to logs, pages and terminals, which more
// people read than may read a Secret.
namespace fairlead::config {

enum class Quoting : uint8_t {
  kValues,   // values and keys, long ones cut
  kNothing,  // no scalar of the document
};

// Nothing of a Secret is quoted.
Quoting QuotingOf(Kind kind);

// The beginning of a field path that has nothing but names of Kubernetes' own fields and usual keys of
// Secrets in it: "data[tls.key]" as it is, "data.MIIE" as "data".
std::string_view ShownPath(std::string_view path);

// A `kind` or `apiVersion` as it is written where it has the form of one, else "(no kind)" and "(no
// version)": a document whose kind is not known may be a Secret.
std::string_view ShownKind(std::string_view kind);
std::string_view ShownApiVersion(std::string_view api_version);

// Whether an API server lets an object have this name and namespace. A Secret with others is not named.
bool IsProperName(const ObjectKey& key);
inline constexpr char kNoSecretName[] =
    "a Secret's name and namespace have lower-case letters, digits, \"-\" and \".\" alone";

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_QUOTING_H_
