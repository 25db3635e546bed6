#include "cni/pods_client.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/strings.h"
#include "config/read/json_reader.h"
#include "fetch/client.h"
#include "fetch/whole_answer.h"
#include "kube/api_request.h"

namespace fairlead::cni {
namespace {

using nlohmann::json;

std::string PathOf(const std::string& ns, const std::string& name) {
  return StrCat("/api/v1/namespaces/", ns, "/pods/", name);
}

// A part of a path: names of objects have no other characters.
bool IsName(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!plain) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> PodsClient::Ask(std::string_view method, const std::string& target,
                                            const std::string& body, std::string_view content_type) {
  auto request = credentials_.Get(target);
  if (!request.ok()) return request.status();
  request->method = method;
  if (!body.empty()) {
    request->body = body;
    request->headers.push_back(StrCat("Content-Type: ", content_type));
  }
  request->headers.emplace_back("Accept: application/json");
  request->whole_limit = std::chrono::seconds(10);
  request->connect_limit = std::chrono::seconds(5);
  request->most_bytes = 8 << 20;
  fetch::WholeAnswer answer = fetch::AskAndWait(fetch::Client::Shared(), *std::move(request));
  if (!answer.outcome.status.ok())
    return absl::UnavailableError(StrCat("the API server: ", FromAbsl(answer.outcome.status.message())));
  if (answer.outcome.http_status == 401) credentials_.OnUnauthorized();
  if (answer.outcome.http_status / 100 != 2)
    return kube::StatusOfAnswer(answer.outcome.http_status, answer.body);
  return std::move(answer.body);
}

absl::StatusOr<PodFacts> PodsClient::Get(const std::string& ns, const std::string& name) {
  if (!IsName(ns) || !IsName(name))
    return absl::InvalidArgumentError(StrCat("\"", ns, "/", name, "\" is no name of a Pod"));
  const auto body = Ask("GET", PathOf(ns, name), "", "");
  if (!body.ok()) return body.status();
  const auto tree = config::JsonReader().Read(*body);
  if (!tree.ok()) return absl::UnavailableError("the API server: its answer is no JSON");
  PodFacts facts = ReadPodFacts(tree->root());
  if (facts.name != name) return absl::UnavailableError("the API server: its answer is no Pod of this name");
  return facts;
}

absl::Status PodsClient::Delete(const PodFacts& pod) {
  const json body{{"kind", "DeleteOptions"},
                  {"apiVersion", "v1"},
                  {"preconditions", {{"uid", pod.uid}, {"resourceVersion", pod.version}}}};
  return Ask("DELETE", PathOf(pod.ns, pod.name), JsonText(body), "application/json").status();
}

absl::Status PodsClient::SetLabel(const PodFacts& pod, const std::string& key, const std::string& value) {
  const json body{{"metadata", {{"uid", pod.uid}, {"labels", {{key, value}}}}}};
  return Ask("PATCH", StrCat(PathOf(pod.ns, pod.name), "/status"), JsonText(body),
             "application/merge-patch+json")
      .status();
}

}  // namespace fairlead::cni
