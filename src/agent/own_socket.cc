#include "agent/own_socket.h"

#include <sys/stat.h>

#include "base/files.h"
#include "base/strings.h"

namespace fairlead::agent {

absl::StatusOr<std::unique_ptr<server::GrpcServer>> ServeOnOwnSocket(const std::string& path,
                                                                     std::vector<server::GrpcMethod> methods,
                                                                     bool for_all) {
  if (const size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0) {
    const std::string folder = path.substr(0, slash);
    const absl::Status made = for_all ? CreateFolders(folder) : CreatePrivateFolder(folder);
    if (!made.ok()) return made;
  }
  if (absl::Status status = RemoveFile(path); !status.ok()) return status;
  server::GrpcServerOptions options;
  options.addresses = {StrCat("unix:", path)};
  options.methods = std::move(methods);
  auto server = std::make_unique<server::GrpcServer>(std::move(options));
  const mode_t before = umask(for_all ? 0111 : 0177);
  const absl::Status status = server->Start();
  umask(before);
  if (!status.ok()) return status;
  return server;
}

}  // namespace fairlead::agent
