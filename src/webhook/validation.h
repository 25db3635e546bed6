#ifndef FAIRLEAD_WEBHOOK_VALIDATION_H_
#define FAIRLEAD_WEBHOOK_VALIDATION_H_

#include "server/http_server.h"

namespace fairlead::webhook {

// The answer to a request below /validate: the verdict of `fairlead validate` on an object that is made or
// changed. Other operations, such as deletion, are allowed, and so are kinds that a mesh does not read.
// Thread-safe.
server::HttpResponse AnswerValidation(const server::HttpRequest& request);

void ShowValidationMetrics();

}  // namespace fairlead::webhook

#endif  // FAIRLEAD_WEBHOOK_VALIDATION_H_
