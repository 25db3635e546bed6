#include "simulate/command/simulated_call.h"

#include <google/protobuf/util/json_util.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "model/spiffe.h"
#include "simulate/name_resolution.h"

namespace fairlead::simulate {
namespace {

constexpr uint32_t kMaxPort = 65535;

struct Url {
  std::string scheme = "http";
  std::string host;
  uint32_t port = 0;       // 0: the scheme's
  bool has_port = false;   // whether it was written
  std::string path = "/";  // with the query
};

std::optional<uint32_t> ParsePort(std::string_view text) {
  uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && port > 0 && port <= kMaxPort ? std::optional(port) : std::nullopt;
}

// "host", "host:80", "[::1]:80", "::1".
absl::Status ParseHostPort(std::string_view text, std::string* host, uint32_t* port) {
  size_t colon = text.rfind(':');
  const size_t bracket = text.find(']');
  const bool bare_ipv6 = bracket == text.npos && text.find(':') != colon;
  if (bare_ipv6 || (bracket != text.npos && colon != text.npos && colon < bracket)) colon = text.npos;
  *host = text.substr(0, colon);
  if (host->starts_with('[') && host->ends_with(']')) *host = host->substr(1, host->size() - 2);
  if (colon == text.npos) return absl::OkStatus();
  const auto number = ParsePort(text.substr(colon + 1));
  if (!number) return absl::InvalidArgumentError(StrCat("\"", text.substr(colon + 1), "\" is not a port"));
  *port = *number;
  return absl::OkStatus();
}

absl::StatusOr<Url> ParseUrl(std::string_view text) {
  Url url;
  if (const size_t mark = text.find("://"); mark != text.npos) {
    url.scheme = AsciiLower(text.substr(0, mark));
    text.remove_prefix(mark + 3);
  }
  if (url.scheme != "http" && url.scheme != "https" && url.scheme != "tcp" && url.scheme != "tls")
    return absl::InvalidArgumentError(StrCat("scheme ", url.scheme, ": http, https, tcp or tls is expected"));
  const size_t end = text.find_first_of("/?#");
  if (absl::Status status = ParseHostPort(text.substr(0, end), &url.host, &url.port); !status.ok())
    return status;
  if (url.host.empty()) return absl::InvalidArgumentError("the URL has no host");
  url.has_port = url.port != 0;
  if (!url.has_port && url.scheme == "http") url.port = 80;
  if (!url.has_port && url.scheme == "https") url.port = 443;
  if (end != text.npos) {
    const std::string_view rest = text.substr(end, text.find('#', end) - end);
    url.path = rest.starts_with('/') ? std::string(rest) : StrCat("/", rest);
  }
  return url;
}

// The Host header as HTTP clients write it: a scheme's default port is left out.
std::string AuthorityOf(const Url& url) {
  const bool v6 = url.host.find(':') != std::string::npos;
  const std::string host = v6 ? StrCat("[", url.host, "]") : url.host;
  const bool is_default =
      (url.scheme == "http" && url.port == 80) || (url.scheme == "https" && url.port == 443);
  return url.has_port && !is_default ? StrCat(host, ":", url.port) : host;
}

absl::Status SetHeaders(const CallOptions& options, SimulatedRequest* request) {
  for (const std::string& line : options.headers) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || colon == 0)
      return absl::InvalidArgumentError(StrCat("header \"", line, "\": NAME: VALUE is expected"));
    const std::string name = AsciiLower(Trim(std::string_view(line).substr(0, colon)));
    // RFC 9110, 5.6.2: what a name is made of.
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") != name.npos &&
        name != ":authority")
      return absl::InvalidArgumentError(StrCat("\"", name, "\" is not the name of a header"));
    const std::string value(Trim(std::string_view(line).substr(colon + 1)));
    if (name == "host" || name == ":authority") {
      request->authority = value;
    } else {
      request->headers.emplace_back(name, value);
    }
  }
  if (!options.cookies.empty()) request->headers.emplace_back("cookie", Join(options.cookies, "; "));
  return absl::OkStatus();
}

void SetTls(const CallOptions& options, const Url& url, SimulatedRequest* request) {
  const bool by_url = url.scheme == "https" || url.scheme == "tls";
  const bool mutual = options.mutual_tls || !options.identity.empty();
  if (!by_url && !mutual && options.server_name.empty() && options.alpn.empty()) return;
  request->tls.emplace();
  request->tls->client_certificate = mutual;
  // There is no SNI for an address.
  request->tls->server_name = IsIpAddress(url.host) ? "" : url.host;
  if (!options.server_name.empty()) request->tls->server_name = options.server_name;
  if (mutual && request->direction != CallDirection::kGateway) {
    request->tls->alpn = MeshProtocols(request->application);
  } else if (request->is_http()) {
    request->tls->alpn = {"h2", "http/1.1"};
  }
  if (!options.alpn.empty()) request->tls->alpn = options.alpn;
}

Application ApplicationOf(const CallOptions& options, const Url& url) {
  if (url.scheme == "tcp" || url.scheme == "tls") return Application::kTcp;
  if (options.http2) return Application::kHttp2;
  return options.http10 ? Application::kHttp10 : Application::kHttp11;
}

// Where the workload itself listens: the container's port where the URL names a service of it. A gateway is
// called by other names than its service's.
uint32_t TargetPort(const Url& url, const mesh::ProxyScope& scope, CallDirection direction) {
  for (const mesh::ServiceTarget& target : *scope.targets) {
    const std::string_view host = target.service->hostname.str();
    const bool named = direction == CallDirection::kGateway || host == url.host ||
                       (host.starts_with(url.host) && host[url.host.size()] == '.');
    if (named && target.port->port == url.port) return target.target_port;
  }
  return url.port;
}

// The workload's own address, of the other one's family where it has one.
const std::string& OwnAddress(const model::Proxy& proxy, std::string_view other) {
  const bool v6 = other.find(':') != other.npos;
  for (const std::string& own : proxy.ip_addresses) {
    if ((own.find(':') != own.npos) == v6) return own;
  }
  return proxy.ip_addresses.front();
}

absl::Status SetDestination(const CallOptions& options, const Url& url, const mesh::MeshSnapshot& snapshot,
                            const mesh::ProxyScope& scope, SimulatedCall* call) {
  SimulatedRequest& request = call->request;
  if (request.direction != CallDirection::kOutbound) {
    request.destination_address = scope.proxy->ip_addresses.front();
    request.destination_port = TargetPort(url, scope, request.direction);
  } else {
    request.destination_port = url.port;
  }
  if (!options.destination.empty()) {
    absl::Status status =
        ParseHostPort(options.destination, &request.destination_address, &request.destination_port);
    if (!status.ok()) return status;
  } else if (request.direction == CallDirection::kOutbound) {
    ResolvedName resolved = ResolveName(snapshot, scope, url.host);
    request.destination_address = std::move(resolved.address);
    if (!resolved.note.empty()) call->notes.push_back(std::move(resolved.note));
    call->missing = MissingTarget(snapshot, scope, url.host, url.port);
  }
  if (request.destination_port == 0) return absl::InvalidArgumentError("the URL needs a port");
  if (request.direction == CallDirection::kOutbound)
    request.source_address = OwnAddress(*scope.proxy, request.destination_address);
  if (!options.source.empty()) request.source_address = options.source;
  return absl::OkStatus();
}

// Who sends: outbound the workload itself, inbound who it is said to be.
absl::Status SetIdentity(const CallOptions& options, const mesh::MeshSnapshot& snapshot,
                         const mesh::ProxyScope& scope, SimulatedRequest* request,
                         std::vector<std::string>* notes) {
  const std::string& trust_domain = snapshot.settings->trust_domain;
  if (request->direction == CallDirection::kOutbound) {
    request->identity = OwnIdentity(*snapshot.settings, *scope.proxy);
  }
  if (options.identity.empty()) {
    if (options.mutual_tls && request->direction != CallDirection::kOutbound)
      notes->emplace_back("the peer has no identity (--as): policies with identities do not match");
    return absl::OkStatus();
  }
  const size_t slash = options.identity.find('/');
  if (options.identity.starts_with(model::kSpiffePrefix)) {
    request->identity = options.identity;
  } else if (slash != std::string::npos) {
    request->identity =
        model::SpiffeId(trust_domain, options.identity.substr(0, slash), options.identity.substr(slash + 1));
  } else {
    return absl::InvalidArgumentError(
        StrCat("--as ", options.identity, ": NAMESPACE/SERVICEACCOUNT or spiffe://… is expected"));
  }
  return absl::OkStatus();
}

absl::Status SetClaims(const CallOptions& options, SimulatedRequest* request) {
  request->time =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  if (options.claims.empty()) return absl::OkStatus();
  request->claims.emplace();
  if (google::protobuf::util::JsonStringToMessage(options.claims, &*request->claims).ok())
    return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("--claims ", options.claims, ": a JSON object is expected"));
}

}  // namespace

std::string OwnIdentity(const model::Settings& settings, const model::Proxy& proxy) {
  const std::string& account = proxy.metadata.service_account;
  return model::SpiffeId(settings.trust_domain, proxy.ns, account.empty() ? "default" : account);
}

std::vector<std::string> MeshProtocols(Application application) {
  switch (application) {
    case Application::kHttp2:
      return {"istio-h2", "istio-peer-exchange", "istio"};
    case Application::kTcp:
      return {"istio-peer-exchange", "istio"};
    default:
      return {"istio-http/1.1", "istio-peer-exchange", "istio"};
  }
}

void AddCallFlags(CallOptions* o, CLI::App* command) {
  command->add_option("url", o->url, "[http|https|tcp|tls://]HOST[:PORT][/PATH]")->required();
  command->add_option("-X,--request", o->method, "HTTP method (GET)");
  command->add_option("-H,--header", o->headers, "\"NAME: VALUE\"; may be given often")
      ->allow_extra_args(false);
  command->add_option("-b,--cookie", o->cookies, "NAME=VALUE; may be repeated")->allow_extra_args(false);
  command->add_flag("-0,--http1.0", o->http10, "HTTP/1.0");
  command->add_flag("--http2", o->http2, "HTTP/2, without TLS by prior knowledge");
  command->add_flag("--inbound", o->inbound, "the call arrives at the proxy's workload");
  command->add_flag("--mtls", o->mutual_tls, "mutual TLS of another sidecar");
  command->add_option("--sni", o->server_name, "server name of the TLS handshake (the URL's host)");
  command->add_option("--alpn", o->alpn, "protocols of the TLS handshake, with commas")->delimiter(',');
  command->add_option("--destination", o->destination,
                      "IP[:PORT] as destination of the call (the URL's host, resolved)");
  command->add_option("--source", o->source, "IP of the peer");
  command->add_option("--as", o->identity,
                      "the peer's identity, NAMESPACE/SERVICEACCOUNT or a SPIFFE URI; implies --mtls");
  command->add_option("--claims", o->claims,
                      "claims (JSON) of a correctly signed token in the expected place");
  command->add_option("--draw", o->draw, "0 to 100, for routes with a share of the requests (0)")
      ->check(CLI::Range(0.0, 100.0));
}

absl::StatusOr<SimulatedCall> MakeCall(const CallOptions& options, const mesh::MeshSnapshot& snapshot,
                                       const mesh::ProxyScope& scope) {
  const absl::StatusOr<Url> url = ParseUrl(options.url);
  if (!url.ok()) return url.status();
  SimulatedCall call;
  SimulatedRequest& request = call.request;
  request.direction = options.inbound ? CallDirection::kInbound : CallDirection::kOutbound;
  if (scope.proxy->type == model::ProxyType::kRouter) request.direction = CallDirection::kGateway;
  request.application = ApplicationOf(options, *url);
  request.authority = AuthorityOf(*url);
  request.path = url->path;
  request.draw = options.draw;
  if (!options.method.empty()) request.method = options.method;
  if (absl::Status status = SetHeaders(options, &request); !status.ok()) return status;
  SetTls(options, *url, &request);
  if (absl::Status status = SetIdentity(options, snapshot, scope, &request, &call.notes); !status.ok())
    return status;
  if (absl::Status status = SetClaims(options, &request); !status.ok()) return status;
  if (absl::Status status = SetDestination(options, *url, snapshot, scope, &call); !status.ok())
    return status;
  return call;
}

}  // namespace fairlead::simulate
