#include "webhook/review_request.h"

#include <utility>

namespace fairlead::webhook {

std::optional<server::HttpResponse> CheckReviewRequest(const server::HttpRequest& request) {
  if (request.body.empty()) return server::HttpResponse{400, "no body found\n"};
  const auto type = request.headers.find("content-type");
  if (type == request.headers.end() || type->second != "application/json")
    return server::HttpResponse{415, "invalid Content-Type, want `application/json`\n"};
  return std::nullopt;
}

server::HttpResponse JsonResponse(std::string body) { return {200, std::move(body), "application/json"}; }

}  // namespace fairlead::webhook
