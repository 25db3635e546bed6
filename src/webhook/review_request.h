#ifndef FAIRLEAD_WEBHOOK_REVIEW_REQUEST_H_
#define FAIRLEAD_WEBHOOK_REVIEW_REQUEST_H_

#include <optional>
#include <string>

#include "server/http_server.h"

// What is alike for all webhooks' requests.
namespace fairlead::webhook {

// The refusal of a request that cannot be a review: without a body (400), or of another type than
// application/json (415). Nothing where it can be.
std::optional<server::HttpResponse> CheckReviewRequest(const server::HttpRequest& request);

server::HttpResponse JsonResponse(std::string body);

}  // namespace fairlead::webhook

#endif  // FAIRLEAD_WEBHOOK_REVIEW_REQUEST_H_
