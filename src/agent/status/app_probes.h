#ifndef FAIRLEAD_AGENT_STATUS_APP_PROBES_H_
#define FAIRLEAD_AGENT_STATUS_APP_PROBES_H_

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/http_server.h"

namespace fairlead::agent {

// A probe of the application that the injection has turned to the agent.
struct AppProbe {
  enum Kind { kHttp, kTcp, kGrpc };
  Kind kind = kHttp;
  int port = 0;
  std::chrono::milliseconds timeout{1'000};
  std::string path = "/";  // of HTTP
  bool tls = false;        // of HTTP; the certificate is not verified, as kubelet does not
  std::string service;     // of gRPC's health protocol
};

// ISTIO_KUBE_APP_PROBERS: a JSON object of probes by path, /app-health/CONTAINER/{livez,readyz,startupz} and
// /app-lifecycle/CONTAINER/{prestopz,poststartz}. InvalidArgument names the path of a mistake; at most a
// thousand probes. Pure. Source: pilot-agent's status server.
absl::StatusOr<std::map<std::string, AppProbe>> ParseAppProbes(std::string_view text);

// Where probes go to, and where they come from.
struct ProbeWay {
  std::string host;           // an IP address or a name
  std::string local_address;  // which redirection leaves alone; "": any
  int status_port = 0;        // replaced in Host headers by the application's port
  bool http2 = true;          // HTTPS may be HTTP/2, as kubelet's may
};
// Probes the application as kubelet would; blocks for the probe's timeout at most. `request` is kubelet's:
// its headers go on. Redirects to the same host are followed, ten at most; others are a success.
server::HttpResponse RunAppProbe(const AppProbe& probe, const ProbeWay& way,
                                 const server::HttpRequest& request);

// Whether a socket can be bound to the address.
bool CanBind(const std::string& address);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_STATUS_APP_PROBES_H_
