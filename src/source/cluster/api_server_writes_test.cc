#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "source/cluster/api_server_fake.h"

// What of the fake answers requests about single objects.
namespace fairlead::source {
namespace {

using Json = nlohmann::json;

constexpr char kJson[] = "application/json";

void Fail(int code, const std::string& reason, httplib::Response& response, const std::string& text = "") {
  const Json status = {{"kind", "Status"},
                       {"code", code},
                       {"reason", reason},
                       {"message", text.empty() ? reason + "!" : text}};
  response.status = code;
  if (code == 429) response.set_header("Retry-After", "1");
  response.set_content(JsonText(status), kJson);
}

// The parts of "/api/v1/namespaces/n/configmaps/name/status" and the like.
struct Target {
  std::string collection, ns, name, subresource;
};

std::optional<Target> TargetOf(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string_view part : Split(path, '/')) {
    if (!part.empty()) parts.emplace_back(part);
  }
  const size_t head = path.starts_with("/api/") ? 2 : 3;
  if (parts.size() < head + 1) return std::nullopt;
  Target target;
  for (size_t i = 0; i < head; ++i) StrAppend(&target.collection, "/", parts[i]);
  size_t at = head;
  if (parts[at] == "namespaces" && parts.size() >= at + 3 && parts[at + 2] != "status") {
    target.ns = parts[at + 1];
    at += 2;
  }
  StrAppend(&target.collection, "/", parts[at++]);
  if (at < parts.size()) target.name = parts[at++];
  if (at < parts.size()) target.subresource = parts[at++];
  return target;
}

std::string VersionOf(const Json& object) {
  const auto metadata = object.find("metadata");
  return metadata == object.end() ? "" : JsonString(*metadata, "resourceVersion");
}

// The version that an object is to have for DeleteOptions to count; "": any.
std::string PreconditionOf(const std::string& body) {
  const Json options = ParseJson(body).value_or(Json::object());
  const auto preconditions = options.find("preconditions");
  return preconditions == options.end() ? "" : JsonString(*preconditions, "resourceVersion");
}

// RFC 6902, of what is used: add, replace and remove with a path.
void Patch(const Json& operations, Json* object) {
  for (const Json& one : operations) {
    const Json::json_pointer at(JsonString(one, "path"));
    if (JsonString(one, "op") == "remove") {
      if (object->contains(at)) (*object)[at.parent_pointer()].erase(at.back());
    } else {
      (*object)[at] = one.at("value");
    }
  }
}

// The object that a request makes of one that is there.
Json Changed(const std::string& method, const std::string& type, const Json& before, const Json& body,
             bool status_alone) {
  Json after = before;
  if (method == "PUT") {
    after = body;
  } else if (type == "application/json-patch+json") {
    Patch(body, &after);
  } else {
    after.merge_patch(body);
  }
  if (!status_alone) {
    if (before.contains("status")) after["status"] = before["status"];
    return after;
  }
  Json out = before;
  out["metadata"]["resourceVersion"] = VersionOf(after);
  if (after.contains("status")) {
    out["status"] = after["status"];
  } else {
    out.erase("status");
  }
  return out;
}

}  // namespace

void ApiServerFake::RefuseWrites(int status, int count, std::string message) {
  std::lock_guard lock(mutex_);
  write_refusal_text_ = std::move(message);
  write_refusal_ = status;
  write_refusals_ = count;
}

void ApiServerFake::DelayWrites(std::chrono::milliseconds delay) {
  std::lock_guard lock(mutex_);
  write_delay_ = delay;
}

std::string ApiServerFake::Get(const std::string& path, const std::string& ns, const std::string& name) {
  std::lock_guard lock(mutex_);
  const auto& objects = collections_[path];
  const auto found = objects.find(StrCat(ns, "/", name));
  return found == objects.end() ? "" : found->second;
}

void ApiServerFake::AnswerObject(const std::string& method, const httplib::Request& request,
                                 httplib::Response& response) {
  const std::optional<Target> target = TargetOf(request.path);
  std::unique_lock lock(mutex_);
  requests_.push_back(StrCat(method, " ", request.target));
  authorization_ = request.get_header_value("Authorization");
  if (method != "GET" && write_delay_.count() > 0) {
    const auto delay = write_delay_;
    lock.unlock();
    std::this_thread::sleep_for(delay);
    lock.lock();
  }
  if (method != "GET" && write_refusals_ > 0) {
    --write_refusals_;
    return Fail(write_refusal_, "Refused", response, write_refusal_text_);
  }
  for (const std::string& refused : {std::string(), request.path}) {
    if (const auto refusal = refusals_.find(refused); refusal != refusals_.end())
      return Fail(refusal->second, "Refused", response);
  }
  const auto collection = target ? collections_.find(target->collection) : collections_.end();
  if (collection == collections_.end()) return Fail(404, "NotFound", response);
  const std::string place = StrCat(target->ns, "/", target->name);
  const auto found = collection->second.find(place);
  const bool applied = request.get_header_value("Content-Type") == "application/apply-patch+yaml";
  if (method != "POST" && !applied && found == collection->second.end())
    return Fail(404, "NotFound", response);
  if (method == "GET") return response.set_content(found->second, kJson);
  if (method == "DELETE") {
    const std::string wanted = PreconditionOf(request.body);
    if (!wanted.empty() && wanted != VersionOf(*ParseJson(found->second)))
      return Fail(409, "Conflict", response);
    ++version_;
    Note(target->collection, "DELETED", found->second);
    collection->second.erase(found);
    response.set_content(R"({"kind":"Status","status":"Success"})", kJson);
  } else {
    Change(method, target->collection, place, request, response);
  }
  lock.unlock();
  changed_.notify_all();
}

// REQUIRES: mutex_ held.
void ApiServerFake::Change(const std::string& method, const std::string& path, const std::string& place,
                           const httplib::Request& request, httplib::Response& response) {
  const std::optional<Json> body = ParseJson(request.body);
  if (!body || !(body->is_object() || body->is_array())) return Fail(400, "BadRequest", response);
  auto& objects = collections_[path];
  Json after = *body;
  std::string at = place;
  const bool made = method == "POST" || !objects.contains(place);
  if (made) {
    at = StrCat(place.substr(0, place.find('/')), "/", JsonString(body->value("metadata", Json()), "name"));
    if (objects.contains(at)) return Fail(409, "AlreadyExists", response);
    after["metadata"]["uid"] = StrCat("uid-", version_);
  } else {
    const Json before = *ParseJson(objects[at]);
    after = Changed(method, request.get_header_value("Content-Type"), before, *body,
                    request.path.ends_with("/status"));
    const std::string version = VersionOf(after);
    if (!version.empty() && version != VersionOf(before)) return Fail(409, "Conflict", response);
    after["metadata"]["resourceVersion"] = VersionOf(before);
    if (after == before) return response.set_content(objects[at], kJson);
  }
  ++version_;
  after["metadata"]["resourceVersion"] = StrCat(version_);
  objects[at] = JsonText(after);
  if (made && request.get_param_value("dryRun") == "All") {
    response.status = 201;
    response.set_content(objects[at], kJson);
    objects.erase(at);
    return;
  }
  Note(path, made ? "ADDED" : "MODIFIED", objects[at]);
  response.status = made ? 201 : 200;
  response.set_content(objects[at], kJson);
}

}  // namespace fairlead::source
