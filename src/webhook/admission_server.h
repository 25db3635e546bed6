#ifndef FAIRLEAD_WEBHOOK_ADMISSION_SERVER_H_
#define FAIRLEAD_WEBHOOK_ADMISSION_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "http2/tls.h"
#include "server/http_server.h"
#include "webhook/injector.h"

namespace fairlead::webhook {

// The listener that an API server asks: /inject and /inject/NAME/VALUE…, /validate and below, any method.
class AdmissionServer {
 public:
  // Null credentials: plaintext, for tests. `injector` may be null: nothing is injected (404 then); else it
  // must outlive it.
  AdmissionServer(std::shared_ptr<http2::TlsCredentials> credentials, Injector* injector);
  // On "host:port" or ":port"; Unavailable, naming the address, where it cannot listen.
  absl::Status Start(const std::string& address) { return server_.Start(address); }
  void Stop() { server_.Stop(); }
  int port() const { return server_.port(); }

 private:
  server::HttpServer server_;
};

}  // namespace fairlead::webhook

#endif  // FAIRLEAD_WEBHOOK_ADMISSION_SERVER_H_
