#ifndef FAIRLEAD_AGENT_BOOTSTRAP_JSON_PARTS_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_JSON_PARTS_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"

// Small values of a bootstrap that several of its parts have.
namespace fairlead::agent {

// The member at the end of a path of names; null where a part of it is absent or no object.
const nlohmann::json& MemberAt(const nlohmann::json& object, std::initializer_list<const char*> path);

// The texts of a list; none where it is no list of texts.
std::vector<std::string> TextsOf(const nlohmann::json& list);

// "type.googleapis.com/MESSAGE".
std::string TypeUrl(std::string_view message);

// envoy.config.core.v3.Address. The protocol is named, as Istio names it.
nlohmann::json SocketAddress(std::string_view address, int port);

// A resource that comes over ADS.
nlohmann::json OverAds();

// The same of "HOST:PORT", where $(HOST_IP) as a host stands for `host_ip`; none where it is no such text.
std::optional<nlohmann::json> RemoteAddress(const std::string& address, const std::string& host_ip);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_JSON_PARTS_H_
