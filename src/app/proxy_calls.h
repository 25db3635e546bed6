#ifndef FAIRLEAD_APP_PROXY_CALLS_H_
#define FAIRLEAD_APP_PROXY_CALLS_H_

#include <string>
#include <vector>

namespace fairlead::app {

// Commands of pilot-agent about the proxy beside it. They give the process's exit status.
// Source: istio.io/latest/docs/reference/commands/pilot-agent

// `fairlead agent wait`: until a URL answers with 200, for containers that must not start before the proxy.
int RunWait(const std::vector<std::string>& arguments);

// `fairlead agent request METHOD PATH [BODY]`: one request to Envoy's administration interface; prints the
// answer.
int RunRequest(const std::vector<std::string>& arguments);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_PROXY_CALLS_H_
