#ifndef FAIRLEAD_SERVER_HTTP_SERVER_H_
#define FAIRLEAD_SERVER_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "http2/tls.h"

namespace fairlead::server {

struct HttpRequest {
  std::string path;  // without the query, decoded
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

// The answer to one request, given whenever there is one. Thread-safe. All but the first answer does nothing;
// a reply that goes without any answers 500.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  virtual void Answer(HttpResponse response) = 0;
  // Calls `end` once if nothing is answered within `patience`, or before, if the client or the server goes.
  // Must not block; on whatever thread. A later call takes the place of an earlier one.
  virtual void Await(Clock::duration patience, std::function<void(bool gone)> end) = 0;
  // Runs a task on the server's threads; it is dropped where the server ends.
  virtual void Run(std::function<void()> task) = 0;
};
using HttpReplyPtr = std::shared_ptr<HttpReply>;

struct HttpServerOptions {
  // Requests at a time, waiting ones included. A quarter as many more wait for one to end, the rest are
  // refused (503).
  size_t max_requests = 512;
  // Connections at a time, silent ones included, of which the oldest goes when there are more. Zero: 512 more
  // than requests.
  size_t max_connections = 0;
  size_t max_body = 4 << 20;                                              // bytes of a request
  size_t threads = 4;                                                     // that handlers run on
  std::chrono::milliseconds head_patience = std::chrono::seconds(5);      // for a request's head to arrive
  std::chrono::milliseconds request_patience = std::chrono::seconds(20);  // for a whole request
};

// A small HTTP/1.1 server for probes, metrics, introspection and polls: an event loop, and a few threads for
// handlers. A connection is one request. A request whose line and headers are more than 64 KiB, or that does
// not arrive in time, ends with its connection.
//
// Paths that end with "*" stand for all that begin so; exact ones go first. To be added before Start.
class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;
  using LaterHandler = std::function<void(const HttpRequest&, HttpReplyPtr)>;

  explicit HttpServer(HttpServerOptions options = {});
  ~HttpServer();  // as Stop()
  // Listens over TLS, with credentials that were made with TlsOptions::http1; null: in plaintext. Before
  // Start.
  void UseTls(std::shared_ptr<http2::TlsCredentials> credentials);
  // GET, and HEAD. Handlers run on the server's threads.
  void Get(const std::string& path, Handler handler);
  void Post(const std::string& path, Handler handler);
  void Put(const std::string& path, Handler handler);
  // Every method that no other handler of the path has.
  void Any(const std::string& path, Handler handler);
  // GET, answered on the loop's thread before all others: for probes. The handler must take no time.
  void Probe(const std::string& path, Handler handler);
  // POST, answered later: what is held takes none of the server's threads.
  void PostLater(const std::string& path, LaterHandler handler);
  // Answers what no handler did: no such path or method (404), a body that is too long (413), no HTTP (400),
  // more than can be answered (503). Without it the answer is empty. Called on the loop's thread.
  void OnUnanswered(std::function<HttpResponse(const HttpRequest&, int status)> answer);
  // Listens on "host:port" or ":port" (all addresses); Unavailable, naming the address, where it cannot.
  absl::Status Start(const std::string& address);
  // Finished answers are sent; the rest ends.
  void Stop();
  int port() const;  // that was bound; 0 before Start

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::server

#endif  // FAIRLEAD_SERVER_HTTP_SERVER_H_
