#include "agent/bootstrap/grpc_bootstrap.h"

#include "agent/bootstrap/node.h"
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
  json bootstrap = {{"xds_servers", json::array({{{"server_uri", options.discovery_address},
                                                  {"channel_creds", json::array({{{"type", "insecure"}}})},
                                                  // Libraries before 1.53 speak v2 otherwise.
                                                  {"server_features", json::array({"xds_v3"})}}})},
                    {"node", GrpcNode(options)},
                    {"server_listener_resource_name_template", "xds.istio.io/grpc/lds/inbound/%s"}};
  if (!options.certificate_folder.empty()) {
    bootstrap["certificate_providers"] = CertificateProviders(options.certificate_folder);
  }
  return bootstrap;
}

}  // namespace fairlead::agent
