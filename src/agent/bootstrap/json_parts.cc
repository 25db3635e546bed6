#include "agent/bootstrap/json_parts.h"

#include "agent/bootstrap/workload_addresses.h"
#include "base/strings.h"

namespace fairlead::agent {

using nlohmann::json;

const json& MemberAt(const json& object, std::initializer_list<const char*> path) {
  static const json kNone;
  const json* at = &object;
  for (const char* name : path) {
    const auto found = at->find(name);  // end() where it is no object
    if (found == at->end()) return kNone;
    at = &*found;
  }
  return *at;
}

std::vector<std::string> TextsOf(const json& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const json& one : list) {
    if (one.is_string()) texts.push_back(one.get<std::string>());
  }
  return texts;
}

std::string TypeUrl(std::string_view message) { return StrCat("type.googleapis.com/", message); }

json SocketAddress(std::string_view address, int port) {
  return {{"socket_address", {{"protocol", "TCP"}, {"address", address}, {"port_value", port}}}};
}

json OverAds() {
  return {{"ads", json::object()}, {"initial_fetch_timeout", "0s"}, {"resource_api_version", "V3"}};
}

std::optional<json> RemoteAddress(const std::string& address, const std::string& host_ip) {
  auto [host, port] = SplitAddress(address, 0);
  if (host.empty() || port <= 0) return std::nullopt;
  if (host == "$(HOST_IP)" && !host_ip.empty()) host = host_ip;
  return json{{"socket_address", {{"address", host}, {"port_value", port}}}};
}

}  // namespace fairlead::agent
