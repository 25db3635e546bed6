#include "gen/route/string_match.h"

#include "envoy/type/matcher/v3/string.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen::route {

using istio::networking::v1alpha3::StringMatch;

bool IsPresenceMatch(const StringMatch& match) {
  switch (match.match_type_case()) {
    case StringMatch::MATCH_TYPE_NOT_SET:
      return true;
    case StringMatch::kRegex:
      return match.regex() == "*";
    default:
      return false;
  }
}

bool ConvertStringMatch(const StringMatch& match, envoy::type::matcher::v3::StringMatcher* out) {
  switch (match.match_type_case()) {
    case StringMatch::kExact:
      out->set_exact(match.exact());
      return true;
    case StringMatch::kPrefix:
      out->set_prefix(match.prefix());
      return true;
    case StringMatch::kRegex:
      out->mutable_safe_regex()->set_regex(match.regex());
      return true;
    case StringMatch::MATCH_TYPE_NOT_SET:
      return false;
  }
  return false;
}

std::string QuoteRegex(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

}  // namespace fairlead::gen::route
