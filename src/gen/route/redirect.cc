#include "gen/route/redirect.h"

#include <optional>
#include <string_view>

#include "envoy/config/route/v3/route_components.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::config::route::v3;

std::optional<pb::RedirectAction::RedirectResponseCode> ResponseCode(uint32_t code) {
  switch (code) {
    case 0:
    case 301:
      return pb::RedirectAction::MOVED_PERMANENTLY;
    case 302:
      return pb::RedirectAction::FOUND;
    case 303:
      return pb::RedirectAction::SEE_OTHER;
    case 307:
      return pb::RedirectAction::TEMPORARY_REDIRECT;
    case 308:
      return pb::RedirectAction::PERMANENT_REDIRECT;
    default:
      return std::nullopt;
  }
}

// The port to redirect to; 0 for the scheme's own, which clients need not be told.
uint32_t RedirectPort(const api::HTTPRedirect& redirect, uint32_t listener_port, bool tls) {
  uint32_t port = 0;
  if (redirect.has_port()) {
    port = redirect.port();
  } else if (redirect.has_derive_port() && redirect.derive_port() == api::HTTPRedirect::FROM_REQUEST_PORT) {
    // Envoy cannot take it from the request, but the requests of this route all come over one port.
    port = listener_port;
  }
  const std::string_view scheme = !redirect.scheme().empty() ? std::string_view(redirect.scheme())
                                  : tls                      ? "https"
                                                             : "http";
  const bool implied = (port == 80 && scheme == "http") || (port == 443 && scheme == "https");
  return implied ? 0 : port;
}

}  // namespace

void BuildRedirect(const api::HTTPRedirect& redirect, uint32_t port, bool tls, pb::Route* out) {
  const auto code = ResponseCode(redirect.redirect_code());
  if (!code) return;
  pb::RedirectAction* action = out->mutable_redirect();
  action->set_response_code(*code);
  action->set_host_redirect(redirect.authority());
  if (!redirect.prefix_rewrite().empty()) {
    action->set_prefix_rewrite(redirect.prefix_rewrite());
  } else {
    action->set_path_redirect(redirect.uri());
  }
  if (!redirect.scheme().empty()) action->set_scheme_redirect(redirect.scheme());
  action->set_port_redirect(RedirectPort(redirect, port, tls));
}

void BuildDirectResponse(const api::HTTPDirectResponse& response, pb::Route* out) {
  pb::DirectResponseAction* action = out->mutable_direct_response();
  action->set_status(response.status());
  if (!response.has_body()) return;
  if (response.body().has_string()) {
    action->mutable_body()->set_inline_string(response.body().string());
  } else if (response.body().has_bytes()) {
    action->mutable_body()->set_inline_bytes(response.body().bytes());
  }
}

}  // namespace fairlead::gen::route
