#include "gen/security/access_matchers.h"

#include <optional>

#include "base/ip_address.h"
#include "base/strings.h"
#include "envoy/config/core/v3/address.pb.h"
#include "envoy/config/route/v3/route_components.pb.h"
#include "gen/route/string_match.h"

namespace fairlead::gen::security {

using envoy::type::matcher::v3::MetadataMatcher;
using envoy::type::matcher::v3::StringMatcher;

void SetText(std::string_view value, std::string_view prefix, StringMatcher* out) {
  if (value == "*") {
    out->mutable_safe_regex()->set_regex(".+");
  } else if (value.starts_with('*')) {
    const std::string_view rest = value.substr(1);
    if (prefix.empty()) {
      out->set_suffix(std::string(rest));
    } else {
      out->mutable_safe_regex()->set_regex(StrCat(prefix, ".*", route::QuoteRegex(rest)));
    }
  } else if (value.ends_with('*')) {
    out->set_prefix(StrCat(prefix, value.substr(0, value.size() - 1)));
  } else {
    out->set_exact(StrCat(prefix, value));
  }
}

void SetHeader(std::string_view name, std::string_view value, bool ignore_case,
               envoy::config::route::v3::HeaderMatcher* out) {
  out->set_name(std::string(name));
  if (value == "*") return out->set_present_match(true);
  SetText(value, "", out->mutable_string_match());
  out->mutable_string_match()->set_ignore_case(ignore_case);
}

bool SetRange(std::string_view value, envoy::config::core::v3::CidrRange* out) {
  const std::optional<IpPrefix> range = IpPrefix::ParseRange(value);
  if (!range) return false;
  out->set_address_prefix(range->address.ToString());
  out->mutable_prefix_len()->set_value(static_cast<uint32_t>(range->bits));
  return true;
}

void SetClaimFilter(MetadataMatcher* out) {
  out->set_filter("envoy.filters.http.jwt_authn");
  out->add_path()->set_key("payload");
}

envoy::type::matcher::v3::ValueMatcher* SetClaim(std::string_view claim, MetadataMatcher* out) {
  SetClaimFilter(out);
  out->add_path()->set_key(std::string(claim));
  return out->mutable_value();
}

}  // namespace fairlead::gen::security
