#include "gateway_api/conversion/route_filters.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/strings.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gateway_api {
namespace {

namespace net = istio::networking::v1alpha3;
using config::Kind;
using config::Node;
using Operations = net::Headers::HeaderOperations;

bool IsHeaderValue(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= ' ' && byte != 0x7f);
  });
}

MaybeError CheckHeaderValues(Node list) {
  for (Node header : list.elements()) {
    if (IsHeaderValue(header.Find("value").text())) continue;
    return ConfigError{std::string(kInvalidFilter), StrCat("header \"", header.Find("name").text(),
                                                           "\" value contains invalid characters")};
  }
  return std::nullopt;
}

// The first of several values of one header counts.
void SetHeaders(Node list, google::protobuf::Map<std::string, std::string>* out) {
  for (Node header : list.elements())
    out->insert({AsciiLower(header.Find("name").text()), std::string(header.Find("value").text())});
}

MaybeError ReadHeaders(Node filter, Operations* out) {
  if (MaybeError error = CheckHeaderValues(filter.Find("set"))) return error;
  if (MaybeError error = CheckHeaderValues(filter.Find("add"))) return error;
  out->Clear();
  SetHeaders(filter.Find("add"), out->mutable_add());
  SetHeaders(filter.Find("set"), out->mutable_set());
  for (Node name : filter.Find("remove").elements()) out->add_remove(std::string(name.text()));
  return std::nullopt;
}

void SetRedirect(Node filter, net::HTTPRedirect* out) {
  out->Clear();
  out->set_redirect_code(static_cast<uint32_t>(filter.Find("statusCode").Unsigned().value_or(0)));
  out->set_authority(std::string(filter.Find("hostname").text()));
  const Node scheme = filter.Find("scheme"), port = filter.Find("port");
  out->set_scheme(std::string(scheme.text()));
  if (!port.IsNull()) {
    out->set_port(static_cast<uint32_t>(port.Unsigned().value_or(0)));
  } else {
    out->set_derive_port(scheme.IsNull() ? net::HTTPRedirect::FROM_REQUEST_PORT
                                         : net::HTTPRedirect::FROM_PROTOCOL_DEFAULT);
  }
  const Node path = filter.Find("path");
  if (path.Find("type").text() == "ReplaceFullPath")
    out->set_uri(std::string(path.Find("replaceFullPath").text()));
  if (path.Find("type").text() == "ReplacePrefixMatch")
    out->set_prefix_rewrite(std::string(path.Find("replacePrefixMatch").text()));
}

void SetRewrite(Node filter, net::HTTPRoute* out) {
  net::HTTPRewrite rewrite;
  const Node path = filter.Find("path");
  if (path.Find("type").text() == "ReplacePrefixMatch") {
    std::string_view prefix = path.Find("replacePrefixMatch").text();
    if (prefix.ends_with('/')) prefix.remove_suffix(1);
    rewrite.set_uri(prefix.empty() ? "/" : std::string(prefix));
  } else if (path.Find("type").text() == "ReplaceFullPath") {
    rewrite.mutable_uri_regex_rewrite()->set_match("/.*");
    rewrite.mutable_uri_regex_rewrite()->set_rewrite(std::string(path.Find("replaceFullPath").text()));
  }
  rewrite.set_authority(std::string(filter.Find("hostname").text()));
  out->clear_rewrite();
  if (rewrite.ByteSizeLong() > 0) *out->mutable_rewrite() = std::move(rewrite);
}

// Nothing where the mirror was added.
MaybeError AddMirror(const RouteView& view, Node filter, net::HTTPRoute* out) {
  const Backend backend = ResolveBackend(view, filter.Find("backendRef"));
  if (backend.error) return backend.error;
  net::HTTPMirrorPolicy* mirror = out->add_mirrors();
  mirror->mutable_destination()->set_host(backend.host);
  mirror->mutable_destination()->mutable_port()->set_number(backend.port);
  const Node fraction = filter.Find("fraction"), percent = filter.Find("percent");
  if (!fraction.IsNull()) {
    const Node denominator = fraction.Find("denominator");
    mirror->mutable_percentage()->set_value(100 * fraction.Find("numerator").Double().value_or(0) /
                                            denominator.Double().value_or(100));
  } else if (!percent.IsNull()) {
    mirror->mutable_percentage()->set_value(percent.Double().value_or(0));
  }
  return std::nullopt;
}

ConfigError UnsupportedFilter(std::string_view type) {
  return {std::string(kInvalidFilter), StrCat("unsupported filter type \"", type, "\"")};
}

// A regular expression's special characters escaped, and * standing for anything (Go: regexp.QuoteMeta).
std::string OriginPattern(std::string_view origin) {
  std::string pattern = "^";
  for (char c : origin) {
    if (c == '*') {
      pattern += ".*";
      continue;
    }
    if (std::string_view("\\.+?()|[]{}^$").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern + "$";
}

void SetOrigin(std::string_view origin, net::StringMatch* out) {
  const size_t wildcard = origin.find('*');
  if (origin == "*") {
    // Any origin that is one by RFC 6454: scheme://host[:port].
    out->set_regex(R"(^[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s?#]+$)");
  } else if (wildcard == std::string_view::npos) {
    out->set_exact(std::string(origin));
  } else if (wildcard + 1 == origin.size()) {
    out->set_prefix(std::string(origin.substr(0, wildcard)));
  } else {
    out->set_regex(OriginPattern(origin));
  }
}

MaybeError ApplyHttpOnly(std::string_view type, Node filter, net::HTTPRoute* out) {
  if (type == "RequestRedirect") {
    SetRedirect(filter.Find("requestRedirect"), out->mutable_redirect());
  } else if (type == "URLRewrite") {
    SetRewrite(filter.Find("urlRewrite"), out);
  } else if (type == "CORS") {
    SetCors(filter.Find("cors"), out->mutable_cors_policy());
  } else {
    return UnsupportedFilter(type);
  }
  return std::nullopt;
}

}  // namespace

void SetCors(Node filter, net::CorsPolicy* out) {
  out->Clear();
  for (Node origin : filter.Find("allowOrigins").elements()) {
    if (!origin.text().empty()) SetOrigin(origin.text(), out->add_allow_origins());
  }
  if (filter.Find("allowCredentials").Bool()) out->mutable_allow_credentials()->set_value(true);
  for (Node one : filter.Find("allowMethods").elements()) out->add_allow_methods(std::string(one.text()));
  for (Node one : filter.Find("allowHeaders").elements()) out->add_allow_headers(std::string(one.text()));
  for (Node one : filter.Find("exposeHeaders").elements()) out->add_expose_headers(std::string(one.text()));
  const int64_t max_age = filter.Find("maxAge").Int().value_or(0);
  if (max_age > 0) out->mutable_max_age()->set_seconds(max_age);
  out->set_unmatched_preflights(net::CorsPolicy::IGNORE);
}

FilterErrors ApplyFilters(const RouteView& view, Node filters, net::HTTPRoute* out) {
  const bool http = view.route.kind() == Kind::kHttpRoute;
  FilterErrors errors;
  for (Node filter : filters.elements()) {
    const std::string_view type = filter.Find("type").text();
    MaybeError error;
    if (type == "RequestHeaderModifier") {
      error = ReadHeaders(filter.Find("requestHeaderModifier"), out->mutable_headers()->mutable_request());
    } else if (type == "ResponseHeaderModifier") {
      error = ReadHeaders(filter.Find("responseHeaderModifier"), out->mutable_headers()->mutable_response());
    } else if (type == "RequestMirror") {
      const MaybeError mirror = AddMirror(view, filter.Find("requestMirror"), out);
      if (http && mirror) errors.mirror = mirror;
      if (!http) error = mirror;
    } else {
      error = http ? ApplyHttpOnly(type, filter, out) : MaybeError(UnsupportedFilter(type));
    }
    if (error) {
      errors.fatal = std::move(error);
      return errors;
    }
  }
  return errors;
}

MaybeError ApplyBackendFilters(Node filters, net::Headers* out) {
  for (Node filter : filters.elements()) {
    const std::string_view type = filter.Find("type").text();
    MaybeError error;
    if (type == "RequestHeaderModifier") {
      error = ReadHeaders(filter.Find("requestHeaderModifier"), out->mutable_request());
    } else if (type == "ResponseHeaderModifier") {
      error = ReadHeaders(filter.Find("responseHeaderModifier"), out->mutable_response());
    } else {
      error = UnsupportedFilter(type);
    }
    if (error) return error;
  }
  return std::nullopt;
}

}  // namespace fairlead::gateway_api
