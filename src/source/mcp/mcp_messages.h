#ifndef FAIRLEAD_SOURCE_MCP_MCP_MESSAGES_H_
#define FAIRLEAD_SOURCE_MCP_MCP_MESSAGES_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "config/kind.h"

// Messages of MCP over xDS: discovery requests and responses whose resources are istio.mcp.v1alpha1.Resource.
// Sources: https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol; istio.io/api mcp/v1alpha1.
// Pure.
namespace fairlead::source {

// A request of either form.
struct McpRequest {
  std::string type_url;
  std::string node;          // "": not the first of a stream
  std::string version = {};  // the last one that was taken; state of the world alone
  std::string nonce = {};    // of the response that is answered; "": none
  std::string error = {};    // why it is not taken; "": it is
  std::map<std::string, std::string> initial_versions = {};  // by name; of the first delta request of a type
};
std::string EncodeMcpRequest(const McpRequest& request, bool delta);

struct McpResource {
  std::string name;     // "ns/name"
  std::string version;  // of a delta response
  std::string body;     // an istio.mcp.v1alpha1.Resource
};
struct McpResponse {
  std::string type_url, version, nonce;
  std::vector<McpResource> resources;
  std::vector<std::string> removed;  // names; of a delta response
};
// Nothing where the bytes are no such message. A resource of another type has an empty name.
std::optional<McpResponse> DecodeMcpResponse(std::string_view bytes, bool delta);

// The manifest of a resource as JSON, with the namespace and name that it says. InvalidArgument says what is
// wrong with it.
struct McpManifest {
  std::string ns, name, text;
};
absl::StatusOr<McpManifest> ManifestOf(const config::KindInfo& kind, std::string_view resource);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MCP_MCP_MESSAGES_H_
