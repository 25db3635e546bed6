#ifndef FAIRLEAD_GEN_SECURITY_ACCESS_MATCHERS_H_
#define FAIRLEAD_GEN_SECURITY_ACCESS_MATCHERS_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <string>
#include <string_view>

#include "envoy/type/matcher/v3/metadata.pb.h"
#include "envoy/type/matcher/v3/string.pb.h"
#include "envoy/type/matcher/v3/value.pb.h"

namespace envoy::config::core::v3 {
class CidrRange;
}
namespace envoy::config::route::v3 {
class HeaderMatcher;
}

// The values of AuthorizationPolicies in Envoy's terms.
namespace fairlead::gen::security {

// A value behind a literal prefix; "*" at its start or end is a wildcard, alone it is any text but none.
void SetText(std::string_view value, std::string_view prefix, envoy::type::matcher::v3::StringMatcher* out);
// The same for a header; "*" alone means a present header.
void SetHeader(std::string_view name, std::string_view value, bool ignore_case,
               envoy::config::route::v3::HeaderMatcher* out);
// An address or a range. False where it is neither.
bool SetRange(std::string_view value, envoy::config::core::v3::CidrRange* out);

// Where a verified token's claims are; then one of them. Returns what its value is matched by.
void SetClaimFilter(envoy::type::matcher::v3::MetadataMatcher* out);
envoy::type::matcher::v3::ValueMatcher* SetClaim(std::string_view claim,
                                                 envoy::type::matcher::v3::MetadataMatcher* out);

// One of the values, each set by `set(value, matcher)`.
template <typename Set>
void SetAnyOf(const google::protobuf::RepeatedPtrField<std::string>& values,
              envoy::type::matcher::v3::ValueMatcher* out, const Set& set) {
  if (values.size() == 1) return set(values[0], out);
  for (const std::string& value : values) set(value, out->mutable_or_match()->add_value_matchers());
}

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_ACCESS_MATCHERS_H_
