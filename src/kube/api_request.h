#ifndef FAIRLEAD_KUBE_API_REQUEST_H_
#define FAIRLEAD_KUBE_API_REQUEST_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "fetch/request.h"

namespace fairlead::kube {

// One request about one object of an API server. A plain value.
// Source: kubernetes.io/docs/reference/using-api/api-concepts, .../server-side-apply
struct ApiRequest {
  enum class Verb : uint8_t {
    kGet,
    kCreate,      // `path` is that of the collection
    kUpdate,      // the whole object; with metadata.resourceVersion only if it is that still
    kApply,       // the fields that are ours, as the field manager
    kMergePatch,  // RFC 7386; metadata.resourceVersion as in kUpdate
    kJsonPatch,   // RFC 6902; likewise where it sets /metadata/resourceVersion
    kDelete,      // `body`: "" or DeleteOptions
  };
  Verb verb = Verb::kGet;
  std::string path;       // see ObjectPath
  std::string body = {};  // JSON
  bool force = false;     // of kApply: fields that others manage are taken over
  std::string manager = "fairlead";
  bool dry_run = false;  // of kCreate: the server says what it would do, and does nothing
  // Goes before those that are not, and is not held back by the rate, nor by what the server asked for.
  bool urgent = false;
  int tries = 5;                            // in all, where the server is busy or does not answer
  std::chrono::milliseconds limit{15'000};  // of each
  // Asked before each try, on the writer's thread: false ends it with Cancelled. Null: it always counts.
  std::function<bool()> valid = nullptr;
};

// How it came out. The status is
//   OK                  the server did it; `body` is the object as it is now (kDelete: a Status, maybe)
//   AlreadyExists       kCreate: there is one of the name
//   Aborted             409: the object is not as it was, or others manage a field
//   NotFound            404: no such object, namespace or kind
//   PermissionDenied    403
//   Unauthenticated     401
//   InvalidArgument     400, 413, 415, 422: the object is refused; or the body is too long to be sent
//   ResourceExhausted   the queue is full, or the answer is too long
//   Unavailable         429, 5xx or no answer, with all tries; or it cannot be sent
//   DeadlineExceeded    no answer in time, likewise
//   Cancelled           stopped, or not valid any more
// The message is the server's, shortened; it has no part of the body that was sent.
struct ApiAnswer {
  absl::Status status;
  int http_status = 0;  // 0: none came
  std::string body = {};
};

// "/api/v1/namespaces/n/configmaps/name", with "/status" for that subresource. `collection` is as
// CollectionPath gives it.
std::string ObjectPath(std::string_view collection, std::string_view name, std::string_view subresource = "");

// How the request is sent, on top of one that only knows the server; the same for what it says to ask for.
void Fill(const ApiRequest& request, fetch::Request* http);
std::string TargetOf(const ApiRequest& request);

// What an HTTP status and the server's Status object say.
absl::Status StatusOfAnswer(int http_status, std::string_view body);

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_API_REQUEST_H_
