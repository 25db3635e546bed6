#include "serving/inspection.h"

#include <utility>

#include "base/strings.h"
#include "debug/access.h"
#include "debug/inspector.h"
#include "server/answering_method.h"

namespace fairlead::serving {
namespace {

server::HttpResponse ToHttp(debug::Page page) {
  return {page.status, std::move(page.body), std::move(page.content_type)};
}

server::HttpResponse Index() {
  std::string html = "<!doctype html><title>Fairlead: what it knows</title><table>";
  for (const debug::PageInfo& page : debug::Pages()) {
    StrAppend(&html, "<tr><td><a href=\"/debug/", page.name, "?pretty\">", page.name, "</a><td>", page.help);
  }
  return {200, html + "</table>\n", "text/html; charset=utf-8"};
}

// A GET may be somebody's whom a link, a redirect or an address in an object led here.
server::HttpResponse ByPostAlone(std::string_view page) {
  return {405, StrCat("/debug/", page, " does something here: ask by POST (curl -X POST …)\n")};
}

// Like istiod, which wants everybody else to be authenticated.
server::HttpServer::Handler ForThisMachine(server::HttpServer::Handler handler) {
  return [handler = std::move(handler)](const server::HttpRequest& request) -> server::HttpResponse {
    if (debug::IsLocal(request.peer)) return handler(request);
    return {401,
            "This is shown to clients on the same machine (http://127.0.0.1:…), and over xDS to those with "
            "an identity.\n"};
  };
}

}  // namespace

void AddDebugPaths(const debug::Sources* sources, server::HttpServer* server) {
  for (const debug::PageInfo& page : debug::Pages()) {
    const std::string path = StrCat("/debug/", page.name);
    const auto make = [sources, &page](const server::HttpRequest& request) {
      return ToHttp(page.make(*sources, request.query));
    };
    server->Get(path, ForThisMachine([make, &page](const server::HttpRequest& request) {
                  const bool acts = page.acts != nullptr && page.acts(request.query);
                  return acts ? ByPostAlone(page.name) : make(request);
                }));
    if (page.acts != nullptr) server->Post(path, ForThisMachine(make));
  }
  for (const char* path : {"/debug", "/debug/"})
    server->Get(path, ForThisMachine([](const server::HttpRequest&) { return Index(); }));
}

std::vector<server::GrpcMethod> ClientStatusMethods(const debug::Sources* sources, Executor* executor) {
  const server::Answer answer = [sources](const std::string& message,
                                          const std::string& peer) -> absl::StatusOr<std::string> {
    envoy::service::status::v3::ClientStatusRequest request;
    if (!request.ParseFromString(message))
      return absl::InvalidArgumentError("the request is no client status request");
    const auto response = debug::ClientStatus(*sources, {.address = peer}, request);
    if (!response.ok()) return response.status();
    return response->SerializeAsString();
  };
  const std::string service = "/envoy.service.status.v3.ClientStatusDiscoveryService/";
  return {
      server::AnsweringMethod(service + "StreamClientStatus", server::Calls::kStreaming, answer, executor),
      server::AnsweringMethod(service + "FetchClientStatus", server::Calls::kUnary, answer, executor)};
}

}  // namespace fairlead::serving
