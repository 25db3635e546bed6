#include "agent/bootstrap/grpc_bootstrap.h"

#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "agent/bootstrap/node.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

json GrpcNode(const Options& options) {
  json node = BuildNode(options);
  node["metadata"]["GENERATOR"] = "grpc";
  node["metadata"].erase("ENVOY_PROMETHEUS_PORT");
  // grpc-js wants one, be it empty.
  if (!node.contains("locality")) node["locality"] = json::object();
  return node;
}

// The provider that clusters and listeners with TLS name: files that somebody keeps up to date.
json CertificateProviders(const std::string& folder) {
  return {{"default",
           {{"plugin_name", "file_watcher"},
            {"config",
             {{"certificate_file", StrCat(folder, "/cert-chain.pem")},
              {"private_key_file", StrCat(folder, "/key.pem")},
              {"ca_certificate_file", StrCat(folder, "/root-cert.pem")},
              {"refresh_interval", "900s"}}}}}};
}

}  // namespace

json BuildGrpcBootstrap(const Options& options) {
  const std::string server = options.relay_socket.empty()
                                 ? options.discovery_address
                                 : StrCat("unix://", AbsolutePath(options.relay_socket));
  json bootstrap = {{"xds_servers", json::array({{{"server_uri", server},
                                                  {"channel_creds", json::array({{{"type", "insecure"}}})},
                                                  // Libraries before 1.53 speak v2 otherwise.
                                                  {"server_features", json::array({"xds_v3"})}}})},
                    {"node", GrpcNode(options)},
                    {"server_listener_resource_name_template", "xds.istio.io/grpc/lds/inbound/%s"}};
  if (!options.certificate_folder.empty()) {
    bootstrap["certificate_providers"] = CertificateProviders(AbsolutePath(options.certificate_folder));
  }
  return bootstrap;
}

bool WantsGrpcBootstrap(const Options& options) {
  if (options.grpc_bootstrap.empty()) return false;
  if (options.disable_envoy || options.own_grpc_bootstrap) return true;
  return IsFolder(options.grpc_bootstrap.substr(0, options.grpc_bootstrap.rfind('/')));
}

absl::Status WriteGrpcBootstrap(const Options& options) {
  const std::string& file = options.grpc_bootstrap;
  if (const size_t slash = file.rfind('/'); slash != std::string::npos && slash > 0) {
    if (absl::Status status = CreateFolders(file.substr(0, slash)); !status.ok()) return status;
  }
  absl::Status status = WriteFileAtomically(file, JsonText(BuildGrpcBootstrap(options), 2) + "\n");
  // It names files of keys, and has none; the umask may be a service's own.
  if (status.ok()) chmod(file.c_str(), 0644);
  return status;
}

absl::Status CheckGrpcFiles(const Options& options) {
  std::vector<std::string> files = {options.grpc_bootstrap};
  if (!options.certificate_folder.empty()) {
    for (const char* name : {"cert-chain.pem", "key.pem", "root-cert.pem"})
      files.push_back(StrCat(options.certificate_folder, "/", name));
  }
  for (const std::string& file : files) {
    if (access(file.c_str(), F_OK) != 0) return absl::UnavailableError(StrCat(file, " is not there yet"));
  }
  return absl::OkStatus();
}

}  // namespace fairlead::agent
