#include "gen/route/sessions.h"

#include "envoy/config/route/v3/route_components.pb.h"
#include "envoy/extensions/filters/http/stateful_session/v3/stateful_session.pb.h"
#include "envoy/extensions/http/stateful_session/cookie/v3/cookie.pb.h"
#include "envoy/extensions/http/stateful_session/header/v3/header.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::route {
namespace {

namespace pb = envoy::extensions::filters::http::stateful_session::v3;

// Without a lifetime, so that browsers forget it with the tab.
void SetCookie(std::string_view label, pb::StatefulSession* out) {
  const size_t colon = label.find(':');
  envoy::extensions::http::stateful_session::cookie::v3::CookieBasedSessionState state;
  state.mutable_cookie()->set_name(std::string(label.substr(0, colon)));
  state.mutable_cookie()->set_path(colon == std::string_view::npos ? "/"
                                                                   : std::string(label.substr(colon + 1)));
  out->mutable_session_state()->set_name("envoy.http.stateful_session.cookie");
  proto::Pack(state, out->mutable_session_state()->mutable_typed_config());
}

void SetHeader(std::string_view label, pb::StatefulSession* out) {
  envoy::extensions::http::stateful_session::header::v3::HeaderBasedSessionState state;
  state.set_name(std::string(label));
  out->mutable_session_state()->set_name("envoy.http.stateful_session.header");
  proto::Pack(state, out->mutable_session_state()->mutable_typed_config());
}

}  // namespace

std::string SessionOf(const model::Features& features, const LabelMap& labels) {
  if (!features.sessions) return "";  // asked for each host
  pb::StatefulSession session;
  if (const std::string_view cookie = LabelOr(labels, features.session_label); !cookie.empty()) {
    SetCookie(cookie, &session);
  } else if (const auto header = LabelOr(labels, features.session_header_label); !header.empty()) {
    SetHeader(header, &session);
  }
  return session.SerializeAsString();
}

void PackSession(const std::string& session, google::protobuf::Any* out) {
  pb::StatefulSessionPerRoute of_route;
  of_route.mutable_stateful_session()->ParseFromString(session);
  proto::Pack(of_route, out);
}

std::string EncodedHostSession(const std::string& session) {
  if (session.empty()) return "";
  envoy::config::route::v3::VirtualHost host;
  PackSession(session, &(*host.mutable_typed_per_filter_config())[std::string(kSessionFilter)]);
  return host.SerializeAsString();
}

}  // namespace fairlead::gen::route
