#include <re2/re2.h>

#include "base/strings.h"
#include "simulate/routing.h"
#include "simulate/value_match.h"

namespace fairlead::simulate {
namespace {

using envoy::config::route::v3::RedirectAction;
using envoy::config::route::v3::Route;

std::string_view QueryOf(std::string_view path) { return path.substr(PathOnly(path).size()); }

std::string RedirectScheme(const RedirectAction& redirect, const SimulatedRequest& request) {
  if (redirect.https_redirect()) return "https";
  return redirect.scheme_redirect().empty() ? request.scheme : redirect.scheme_redirect();
}

// The request's host. Its port goes where the redirect has one of its own, and where it is the default one of
// a scheme that is left.
std::string_view RedirectHost(const RedirectAction& redirect, const SimulatedRequest& request,
                              std::string_view scheme) {
  if (!redirect.host_redirect().empty()) return redirect.host_redirect();
  const std::string_view bare = WithoutPort(request.authority);
  const std::string_view port = std::string_view(request.authority).substr(bare.size());
  const bool leaves_default = scheme != request.scheme && ((request.scheme == "http" && port == ":80") ||
                                                           (request.scheme == "https" && port == ":443"));
  return redirect.port_redirect() != 0 || leaves_default ? bare : std::string_view(request.authority);
}

std::string RedirectPath(const Route& route, const SimulatedRequest& request) {
  const RedirectAction& redirect = route.redirect();
  const std::string_view query = redirect.strip_query() ? std::string_view() : QueryOf(request.path);
  // Empty texts, as Istio sends them, leave the path as it is.
  if (redirect.path_redirect().empty() && redirect.prefix_rewrite().empty() && !redirect.has_regex_rewrite())
    return StrCat(PathOnly(request.path), query);
  switch (redirect.path_rewrite_specifier_case()) {
    case RedirectAction::kPathRedirect: {
      const bool has_query = redirect.path_redirect().find('?') != std::string::npos;
      return StrCat(redirect.path_redirect(), has_query ? std::string_view() : query);
    }
    case RedirectAction::kPrefixRewrite:
      return WithPrefixRewritten(route.match(), redirect.prefix_rewrite(),
                                 StrCat(PathOnly(request.path), query));
    default:
      return WithRegexRewritten(redirect.regex_rewrite(), StrCat(PathOnly(request.path), query));
  }
}

}  // namespace

std::string WithRegexRewritten(const envoy::type::matcher::v3::RegexMatchAndSubstitute& rewrite,
                               std::string_view path) {
  const RE2 pattern(rewrite.pattern().regex(), RE2::Quiet);
  std::string changed(PathOnly(path));
  if (pattern.ok()) RE2::GlobalReplace(&changed, pattern, rewrite.substitution());
  return StrCat(changed, QueryOf(path));
}

std::string RedirectLocation(const Route& route, const SimulatedRequest& request) {
  const RedirectAction& redirect = route.redirect();
  const std::string scheme = RedirectScheme(redirect, request);
  const std::string port = redirect.port_redirect() == 0 ? "" : StrCat(":", redirect.port_redirect());
  return StrCat(scheme, "://", RedirectHost(redirect, request, scheme), port, RedirectPath(route, request));
}

int RedirectStatus(const RedirectAction& redirect) {
  switch (redirect.response_code()) {
    case RedirectAction::FOUND:
      return 302;
    case RedirectAction::SEE_OTHER:
      return 303;
    case RedirectAction::TEMPORARY_REDIRECT:
      return 307;
    case RedirectAction::PERMANENT_REDIRECT:
      return 308;
    default:
      return 301;
  }
}

}  // namespace fairlead::simulate
