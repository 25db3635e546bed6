#include "model/key_sets.h"

#include "base/go_url.h"
#include "config/check/names.h"

namespace fairlead::model {

std::optional<KeyServer> KeyServerOf(std::string_view uri) {
  const std::optional<GoUrl> url = ParseUrl(uri);
  if (!url || (url->scheme != "http" && url->scheme != "https")) return std::nullopt;
  KeyServer server{url->host, url->scheme == "http" ? 80u : 443u};
  std::string_view host, port;
  if (config::check::SplitHostPort(url->host, &host, &port)) {
    int64_t number = server.port;
    if (!port.empty() && !config::check::ParseGoInteger(port, &number)) return std::nullopt;
    server = {std::string(host), static_cast<uint32_t>(number)};
  } else if (url->host.starts_with('[') && url->host.ends_with(']')) {
    server.host = url->host.substr(1, url->host.size() - 2);
  }
  return server;
}

}  // namespace fairlead::model
