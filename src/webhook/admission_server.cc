#include "webhook/admission_server.h"

#include <utility>

#include "webhook/validation.h"

namespace fairlead::webhook {
namespace {

// Handlers wait for the template program, at worst for a template that takes too long.
constexpr size_t kThreads = 32;
constexpr size_t kRequests = 256;
// An API server's objects have at most 3 MiB; a review of a change has two.
constexpr size_t kMostBody = 8 << 20;

server::HttpServerOptions Options() {
  server::HttpServerOptions options;
  options.max_requests = kRequests;
  options.threads = kThreads;
  options.max_body = kMostBody;
  return options;
}

}  // namespace

AdmissionServer::AdmissionServer(std::shared_ptr<http2::TlsCredentials> credentials, Injector* injector)
    : server_(Options()) {
  server_.UseTls(std::move(credentials));
  if (injector != nullptr) {
    const auto inject = [injector](const server::HttpRequest& request) { return injector->Answer(request); };
    server_.Any("/inject", inject);
    server_.Any("/inject/*", inject);
  }
  server_.Any("/validate", AnswerValidation);
  server_.Any("/validate/*", AnswerValidation);
  server_.OnUnanswered([](const server::HttpRequest& /*request*/, int status) {
    return server::HttpResponse{status, status == 404 ? "404 page not found\n" : ""};
  });
}

}  // namespace fairlead::webhook
