#ifndef FAIRLEAD_RPC_HTTP_SERVER_H_
#define FAIRLEAD_RPC_HTTP_SERVER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"

namespace fairlead::rpc {

struct HttpRequest {
  std::string path;
  std::multimap<std::string, std::string> query;
  std::string body;
  std::string peer;                            // the client's IP address
  std::map<std::string, std::string> headers;  // names in lower case; of repeated ones the last
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
  std::string retry_after = {};  // seconds, for the header of that name; "": none
};

struct HttpServerOptions {
  size_t max_connections = 512;  // that are served at a time, each by a thread; more wait for one to end
  std::chrono::milliseconds request_patience = std::chrono::seconds(20);  // for a whole request to arrive
};

// A small HTTP/1.1 server for probes, metrics, introspection and polls. A connection has a thread while it
// lasts, which is one request: an idle client would else keep others waiting. A request whose line and
// headers are more than 64 KiB, or that does not arrive in time, ends with its connection.
class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  explicit HttpServer(HttpServerOptions options = {});
  ~HttpServer();  // as Stop()
  // GET on exactly this path. To be called before Start. Handlers run on the server's threads.
  void Get(const std::string& path, Handler handler);
  // POST likewise. The handler may wait, as long polls do, but not beyond its client's patience. REQUIRES:
  // handlers that wait leave some of max_connections for those that do not.
  void Post(const std::string& path, Handler handler);
  // PUT likewise; such a handler does not wait.
  void Put(const std::string& path, Handler handler);
  // Answers what no handler did: no such path or method (404), a body beyond 4 MiB (413), no HTTP (400).
  // Without it the answer is empty. To be called before Start.
  void OnUnanswered(std::function<HttpResponse(const HttpRequest&, int status)> answer);
  // Listens on "host:port" or ":port" (all addresses); Unavailable, naming the address, where it cannot.
  absl::Status Start(const std::string& address);
  void Stop();
  int port() const { return port_; }  // that was bound; 0 before Start

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  int port_ = 0;
};

}  // namespace fairlead::rpc

#endif  // FAIRLEAD_RPC_HTTP_SERVER_H_
