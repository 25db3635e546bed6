#ifndef FAIRLEAD_AGENT_BOOTSTRAP_ENVOY_PROGRAM_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_ENVOY_PROGRAM_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/options.h"

namespace fairlead::agent {

// The program that Options::binary names. Where that is the default and there is none, the "envoy" of PATH.
std::string EnvoyProgram(const Options& options);

// Whether Envoy's program may have Istio's extensions: not if it is a program (ELF) without their names in
// it. A script, and what cannot be read, may.
bool MayHaveIstioExtensions(const std::string& program);

// Whether Envoy learns over xDS who its peers are, by an extension of Istio's.
bool DiscoversPeers(const Options& options);

// Envoy's command line, the program's name first. `override_json`: what lies over the bootstrap, "" for
// nothing. Source: Envoy's "Command line options"; pilot-agent's pkg/envoy.
std::vector<std::string> EnvoyCommand(const Options& options, const std::string& bootstrap_file,
                                      const std::string& override_json = "");

// The variables that Envoy gets besides the agent's own.
std::vector<std::pair<std::string, std::string>> EnvoyVariables(const Options& options);

// The text of ISTIO_BOOTSTRAP_OVERRIDE (YAML or JSON) as JSON, with $(HOST_IP) filled in. InvalidArgument
// names the line of a mistake.
absl::StatusOr<std::string> OverrideJson(const std::string& text, const std::string& host_ip);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_ENVOY_PROGRAM_H_
