#ifndef FAIRLEAD_SOURCE_MCP_MCP_SESSION_H_
#define FAIRLEAD_SOURCE_MCP_MCP_SESSION_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/hash.h"
#include "config/kind.h"
#include "source/mcp/mcp_messages.h"
#include "source/mcp/mcp_options.h"
#include "source/platform/platform_view.h"

namespace fairlead::source {

// Streams of MCP, one after the other, without their sockets: responses in, requests out, objects into the
// view. A part of the view is a resource. One thread at a time.
class McpSession {
 public:
  // `view` outlives it.
  McpSession(const McpOptions& options, PlatformView* view);

  // The first requests of a new stream, one for each type.
  std::vector<std::string> Begin();
  // Takes a response, and gives the request that answers it: it is accepted, or refused with a reason for
  // each object that cannot be read. The other objects count. InvalidArgument: it is no response, or of a
  // type that was not asked for.
  absl::StatusOr<std::string> Take(std::string_view message);
  // Types that the server has not answered on this stream.
  std::vector<std::string> Unanswered() const;
  // They count as they are. Nothing where no type was answered at all.
  void StopWaiting();

 private:
  struct Resource {
    Hash128 hash;           // of its bytes
    bool readable = false;  // what could not be read is read again
    std::string version;
  };
  struct Type {
    config::Kind kind;
    std::string version;  // the last one that was taken
    bool answered = false;
    std::map<std::string, Resource> resources;  // by name
  };
  using Errors = std::vector<std::string>;

  static std::string PartName(const std::string& url, const std::string& name) { return url + "/" + name; }
  void Put(const std::string& url, Type& type, const McpResource& resource, Errors* errors);
  void Remove(const std::string& url, Type& type, const std::string& name);
  void TakeResources(const std::string& url, Type& type, const McpResponse& response, Errors* errors);
  PlatformPart ReadPart(const std::string& part, const Type& type, const McpResource& resource) const;
  void CompleteWhenAnswered();

  const McpOptions& options_;
  PlatformView* const view_;
  const std::string origin_;  // "xds://h:15010", before a type
  std::map<std::string, Type> types_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MCP_MCP_SESSION_H_
