#include "kube/api_request.h"

#include "base/excerpt.h"
#include "base/json.h"
#include "base/percent.h"
#include "base/strings.h"

namespace fairlead::kube {
namespace {

using Verb = ApiRequest::Verb;

const char* MethodOf(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return "GET";
    case Verb::kCreate:
      return "POST";
    case Verb::kUpdate:
      return "PUT";
    case Verb::kDelete:
      return "DELETE";
    case Verb::kApply:
    case Verb::kMergePatch:
    case Verb::kJsonPatch:
      return "PATCH";
  }
  return "GET";
}

const char* TypeOf(Verb verb) {
  switch (verb) {
    case Verb::kApply:
      return "application/apply-patch+yaml";
    case Verb::kMergePatch:
      return "application/merge-patch+json";
    case Verb::kJsonPatch:
      return "application/json-patch+json";
    default:
      return "application/json";
  }
}

absl::StatusCode CodeOf(int http_status, std::string_view reason) {
  switch (http_status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return reason == "AlreadyExists" ? absl::StatusCode::kAlreadyExists : absl::StatusCode::kAborted;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

}  // namespace

std::string ObjectPath(std::string_view collection, std::string_view name, std::string_view subresource) {
  std::string path = StrCat(collection, "/", PercentEncoded(name, "-._~:"));
  if (!subresource.empty()) StrAppend(&path, "/", subresource);
  return path;
}

std::string TargetOf(const ApiRequest& request) {
  if (request.verb == Verb::kGet || request.verb == Verb::kDelete) return request.path;
  const bool force = request.verb == Verb::kApply && request.force;
  const bool dry_run = request.verb != Verb::kApply && request.dry_run;
  return StrCat(request.path, "?fieldManager=", PercentEncoded(request.manager, "-._~:"),
                force ? "&force=true" : "", dry_run ? "&dryRun=All" : "");
}

void Fill(const ApiRequest& request, fetch::Request* http) {
  http->method = MethodOf(request.verb);
  http->headers.emplace_back("Accept: application/json, */*");  // keys of tokens have a type of their own
  http->whole_limit = request.limit;
  if (request.verb == Verb::kGet || (request.verb == Verb::kDelete && request.body.empty())) return;
  http->headers.push_back(StrCat("Content-Type: ", TypeOf(request.verb)));
  http->body = request.body;
}

absl::Status StatusOfAnswer(int http_status, std::string_view body) {
  if (http_status >= 200 && http_status < 300) return absl::OkStatus();
  std::string reason, message;
  if (const auto status = ParseJson(body); status && status->is_object()) {
    reason = JsonString(*status, "reason");
    message = JsonString(*status, "message");
  }
  const std::string text =
      StrCat("the API server says ", http_status, message.empty() ? "" : ": ", Excerpt(message));
  return absl::Status(CodeOf(http_status, reason), ToAbsl(text));
}

}  // namespace fairlead::kube
