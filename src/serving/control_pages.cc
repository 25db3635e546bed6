#include "serving/control_pages.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::serving {
namespace {

LogScope control_log("ctrlz");

constexpr char kJson[] = "application/json";
constexpr std::string_view kScopes = "/scopej/";

server::HttpResponse Wrong(std::string message) {
  return {400, JsonText(nlohmann::json{{"error", std::move(message)}}), kJson};
}

nlohmann::ordered_json ToJson(const LogScopeInfo& scope) {
  return {{"name", scope.name},
          {"description", ""},
          {"output_level", NameOf(scope.level)},
          {"stack_trace_level", "none"},
          {"log_callers", scope.names_callers}};
}

std::optional<LogScopeInfo> FindScope(std::string_view name) {
  for (LogScopeInfo& scope : LogScopes()) {
    if (scope.name == name) return std::move(scope);
  }
  return std::nullopt;
}

server::HttpResponse ShowScopes(const server::HttpRequest&) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const LogScopeInfo& scope : LogScopes()) all.push_back(ToJson(scope));
  return {200, JsonText(all), kJson};
}

server::HttpResponse ShowScope(const std::string& name) {
  return {200, JsonText(ToJson(*FindScope(name))), kJson};
}

// An absent member leaves what it is about as it is.
server::HttpResponse ChangeScope(const std::string& name, const server::HttpRequest& request) {
  const auto json = ParseJson(request.body);
  if (!json || !json->is_object()) return Wrong("the body is no JSON object");
  LogScopeInfo scope = *FindScope(name);
  if (const std::string text = JsonString(*json, "output_level"); !text.empty()) {
    const auto level = ParseLogLevel(text);
    if (!level) return Wrong(StrCat("output_level \"", text, "\" is not ", LogLevelNames()));
    scope.level = *level;
  }
  const auto callers = json->find("log_callers");
  if (callers != json->end() && callers->is_boolean()) scope.names_callers = callers->get<bool>();
  SetLogScope(scope);
  control_log.Info("scope {} has level {}{} by {}", name, NameOf(scope.level),
                   scope.names_callers ? " and names callers" : "", request.peer);
  return {202, ""};
}

server::HttpResponse ScopeTable(const server::HttpRequest&) {
  std::string html = "<!doctype html><title>Scopes of the log</title><table>";
  for (const LogScopeInfo& scope : LogScopes()) {
    StrAppend(&html, "<tr><td><a href=\"", kScopes, scope.name, "\">", scope.name, "</a><td>",
              NameOf(scope.level), scope.names_callers ? "<td>with callers" : "");
  }
  return {
      200,
      html + "</table>\n<p>curl -X PUT -d '{\"output_level\": \"debug\"}' HOST:PORT/scopej/ads sets one.\n",
      "text/html; charset=utf-8"};
}

}  // namespace

void AddControlPages(server::HttpServer* server) {
  for (const char* path : {"/", "/scopez", "/scopez/"}) server->Get(path, ScopeTable);
  for (const char* path : {"/scopej", "/scopej/"}) server->Get(path, ShowScopes);
  for (const LogScopeInfo& scope : LogScopes()) {
    const std::string path = StrCat(kScopes, scope.name);
    server->Get(path, [name = scope.name](const server::HttpRequest&) { return ShowScope(name); });
    server->Put(
        path, [name = scope.name](const server::HttpRequest& request) { return ChangeScope(name, request); });
  }
  server->OnUnanswered([](const server::HttpRequest& request, int status) -> server::HttpResponse {
    if (!request.path.starts_with(kScopes)) return {status, "there is no such page; /scopez is one\n"};
    return Wrong(StrCat("unknown scope name: ", request.path.substr(kScopes.size())));
  });
}

}  // namespace fairlead::serving
