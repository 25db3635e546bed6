#ifndef FAIRLEAD_GEN_ROUTE_STRING_MATCH_H_
#define FAIRLEAD_GEN_ROUTE_STRING_MATCH_H_

#include <string>
#include <string_view>

namespace envoy::type::matcher::v3 {
class StringMatcher;
}
namespace istio::networking::v1alpha3 {
class StringMatch;
}

namespace fairlead::gen::route {

// Whether a match asks for no more than that the header or parameter is there: no value given, or the regex
// "*".
bool IsPresenceMatch(const istio::networking::v1alpha3::StringMatch& match);

// False, and `out` as it was, where the match has no value.
bool ConvertStringMatch(const istio::networking::v1alpha3::StringMatch& match,
                        envoy::type::matcher::v3::StringMatcher* out);

// RE2's metacharacters escaped, as Go's regexp.QuoteMeta does it.
std::string QuoteRegex(std::string_view text);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_STRING_MATCH_H_
