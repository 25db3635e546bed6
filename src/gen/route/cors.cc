#include "gen/route/cors.h"

#include "base/strings.h"
#include "envoy/extensions/filters/http/cors/v3/cors.pb.h"
#include "gen/route/fraction.h"
#include "gen/route/string_match.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::extensions::filters::http::cors::v3;

void BuildOrigins(const api::CorsPolicy& policy, pb::CorsPolicy* out) {
  for (const api::StringMatch& origin : policy.allow_origins()) {
    if (origin.match_type_case() == api::StringMatch::MATCH_TYPE_NOT_SET) continue;
    ConvertStringMatch(origin, out->add_allow_origin_string_match());
  }
  if (policy.allow_origins_size() > 0) return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  for (const std::string& origin : policy.allow_origin())
    out->add_allow_origin_string_match()->set_exact(origin);
#pragma GCC diagnostic pop
}

}  // namespace

void BuildCorsPolicy(const api::CorsPolicy& policy, pb::CorsPolicy* out) {
  BuildOrigins(policy, out);
  out->mutable_forward_not_matching_preflights()->set_value(policy.unmatched_preflights() !=
                                                            api::CorsPolicy::IGNORE);
  SetWholePercent(100, out->mutable_filter_enabled()->mutable_default_value());
  if (policy.has_allow_credentials()) *out->mutable_allow_credentials() = policy.allow_credentials();
  out->set_allow_headers(Join(policy.allow_headers(), ","));
  out->set_allow_methods(Join(policy.allow_methods(), ","));
  out->set_expose_headers(Join(policy.expose_headers(), ","));
  if (policy.has_max_age()) out->set_max_age(StrCat(policy.max_age().seconds()));
}

}  // namespace fairlead::gen::route
