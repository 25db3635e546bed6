#ifndef FAIRLEAD_APP_REGISTER_OPTIONS_H_
#define FAIRLEAD_APP_REGISTER_OPTIONS_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/proofs.h"
#include "base/labels.h"
#include "nlohmann/json.hpp"

namespace fairlead::app {

// What `fairlead register` announces, and to whom.
struct RegisterOptions {
  std::string group, ns, address, network, locality, service_account, cluster_id;
  LabelMap labels;
  nlohmann::json probe;  // istio.networking.v1.ReadinessProbe; null: the workload counts as healthy
  agent::ControlPlaneOptions control_plane;
  std::chrono::milliseconds drain{5'000};
  std::string run_folder;
};

// Of a command line without the command. Unavailable with the text: help was asked for. InvalidArgument names
// the flag, or the file and the line.
absl::StatusOr<RegisterOptions> ReadRegisterOptions(const std::vector<std::string>& arguments);

// What `fairlead deregister` ends.
struct DeregisterOptions {
  std::string group, ns, address, run_folder;  // "" as address: of any
  std::chrono::milliseconds patience{60'000};
};
absl::StatusOr<DeregisterOptions> ReadDeregisterOptions(const std::vector<std::string>& arguments);

// "http://:8080/healthz", "https://…", "tcp://:5432", "grpc://:9000/SERVICE", "exec:COMMAND" as a
// ReadinessProbe; nothing where it is none of these. Pure.
std::optional<nlohmann::json> ReadProbe(std::string_view text);

// The node of the workload (envoy.config.core.v3.Node). Pure.
nlohmann::json RegisterNode(const RegisterOptions& options);

// The file that says which process announces a workload; "" as address: what all such begin with.
std::string RegisterMark(std::string_view ns, std::string_view group, std::string_view address);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_REGISTER_OPTIONS_H_
