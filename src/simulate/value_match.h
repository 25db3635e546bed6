#ifndef FAIRLEAD_SIMULATE_VALUE_MATCH_H_
#define FAIRLEAD_SIMULATE_VALUE_MATCH_H_

#include <string>
#include <string_view>

#include "envoy/config/route/v3/route_components.pb.h"
#include "envoy/type/matcher/v3/metadata.pb.h"
#include "envoy/type/matcher/v3/regex.pb.h"
#include "envoy/type/matcher/v3/string.pb.h"
#include "envoy/type/v3/percent.pb.h"
#include "simulate/request.h"

// Envoy's matchers of values, by their API's description (envoy.type.matcher.v3, envoy.config.route.v3).
// Unknown matchers (custom string matchers) match nothing.
namespace fairlead::simulate {

// The whole value, as Envoy's RE2 matches it. An invalid pattern matches nothing; Envoy would reject it.
bool Matches(const envoy::type::matcher::v3::RegexMatcher& matcher, std::string_view value);
bool Matches(const envoy::type::matcher::v3::StringMatcher& matcher, std::string_view value);
bool Matches(const envoy::config::route::v3::HeaderMatcher& matcher, const SimulatedRequest& request);
// The first value of the parameter counts, as it is written (not decoded).
bool Matches(const envoy::config::route::v3::QueryParameterMatcher& matcher, const SimulatedRequest& request);
bool Matches(const envoy::type::matcher::v3::MetadataMatcher& matcher, const SimulatedRequest& request);

// A fraction in percent.
double Percent(const envoy::type::v3::FractionalPercent& fraction);

// The path without query and fragment.
std::string_view PathOnly(std::string_view path);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_VALUE_MATCH_H_
