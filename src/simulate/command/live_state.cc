#include "simulate/command/live_state.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/strings.h"

namespace fairlead::simulate {
namespace {

using nlohmann::json;

// The list of a member; empty where there is none.
json ListOf(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_array() ? *found : json::array();
}

// "EnvoyFilter default/lua (mesh/lua.yaml:3)"
std::string ObjectText(const json& object) {
  std::string text = StrCat(JsonString(object, "kind"), " ");
  if (const std::string ns = JsonString(object, "namespace"); !ns.empty()) StrAppend(&text, ns, "/");
  StrAppend(&text, JsonString(object, "name"));
  const std::string file = JsonString(object, "file");
  const auto line = object.find("line");
  if (!file.empty() && line != object.end() && line->is_number_integer())
    StrAppend(&text, " (", file, ":", line->get<int>(), ")");
  return text;
}

std::string WordFor(const std::string& type) {
  if (type == "LDS") return "listener";
  if (type == "CDS") return "cluster";
  if (type == "RDS") return "route configuration";
  return StrCat("resource of ", type);
}

void AddResource(const std::string& proxy, const json& rejection, const json& resource,
                 std::vector<std::string>* out) {
  const std::string running = JsonString(resource, "running"), since = JsonString(resource, "since");
  const std::string what = StrCat(WordFor(JsonString(rejection, "type")), " ", JsonString(resource, "name"));
  std::string text = running == "nothing" ? StrCat(proxy, " runs no ", what)
                     : running == "older" ? StrCat(proxy, " runs an older ", what)
                                          : StrCat(proxy, " may run an older ", what);
  StrAppend(&text, " since ", since, ", as it rejects the newest: ", JsonString(resource, "reason"));
  std::vector<std::string> changed;
  for (const json& object : ListOf(resource, "changed")) changed.push_back(ObjectText(object));
  if (!changed.empty()) StrAppend(&text, "; what changed: ", Join(changed, ", "));
  out->push_back(std::move(text));
  for (const json& policy : ListOf(resource, "notInForce")) {
    const bool gone = policy.is_object() && policy.value("gone", json()) == json(true);
    const std::string_view what = gone ? " is gone, but still in force at " : " is not in force at ";
    out->push_back(StrCat(ObjectText(policy), what, proxy));
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> LiveState(const std::string& server,
                                                   const std::set<std::string>& proxies,
                                                   const AskServer& ask) {
  const std::string url = StrCat(server, server.ends_with('/') ? "" : "/", "debug/rejectz");
  const absl::StatusOr<std::string> body = ask(url);
  if (!body.ok()) return body.status();
  const std::optional<json> page = ParseJson(*body);
  if (!page || !page->is_array())
    return absl::InvalidArgumentError(ToAbsl(StrCat(url, " is no page of Fairlead's")));
  std::vector<std::string> lines;
  for (const json& rejection : *page) {
    const std::string proxy = JsonString(rejection, "proxy");
    if (!proxies.contains(proxy)) continue;
    for (const json& resource : ListOf(rejection, "resources"))
      AddResource(proxy, rejection, resource, &lines);
  }
  return lines;
}

}  // namespace fairlead::simulate
