#ifndef FAIRLEAD_CNI_INSTALL_H_
#define FAIRLEAD_CNI_INSTALL_H_

#include <string>

#include "absl/status/status.h"
#include "cni/node_options.h"

namespace fairlead::cni {

// The plugin on a node: its program, its kubeconfig, and its place in the network configuration, in this
// order; a runtime never finds the one without the others. One thread.
class Installation {
 public:
  // `program`: the file to copy.
  Installation(const NodeOptions& options, std::string program)
      : options_(options), program_(std::move(program)) {}

  // Makes what is missing or differs; nothing is written otherwise. Unavailable names the file and the
  // reason; NotFound: there is no network configuration yet.
  absl::Status Renew();

  // Undoes it, in the reverse order; goes on after a failure and gives the first.
  absl::Status Remove();

 private:
  absl::Status RenewProgram();
  absl::Status RenewKubeconfig() const;
  absl::Status RenewConfiguration() const;
  std::string ConfigurationFile() const;
  std::string ProgramFile() const;
  std::string KubeconfigFile() const;

  const NodeOptions& options_;
  const std::string program_;
};

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_INSTALL_H_
