#include "gen/grpc/listener_names.h"

#include <limits>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "config/check/names.h"

namespace fairlead::gen::grpc {
namespace {

using config::check::SplitHostPort;

std::optional<ServerListenerName> ParseServerName(const std::string& name) {
  std::string_view address, port;
  int64_t number = 0;
  if (!SplitHostPort(std::string_view(name).substr(kServerListenerPrefix.size()), &address, &port) ||
      !config::check::ParseGoInteger(port, &number) || number < 0 ||
      number > std::numeric_limits<uint16_t>::max()) {
    return std::nullopt;
  }
  return ServerListenerName{name, std::string(address), static_cast<uint32_t>(number)};
}

void Ask(std::string_view host, std::string_view asked_as, std::string_view port, bool has_port,
         ListenerNames* out) {
  AskedHost& asked = out->hosts[std::string(host)];
  asked.names.emplace(asked_as);
  if (has_port) {
    asked.ports.emplace(port);
  } else {
    asked.all_ports = true;
  }
}

}  // namespace

bool AskedHost::Has(uint32_t port) const { return all_ports || ports.contains(StrCat(port)); }

std::string CompleteHost(std::string_view host, std::string_view ns, std::string_view domain) {
  if (host.find('.') == std::string_view::npos) return StrCat(host, ".", domain);
  for (const std::string& end : {std::string(ns), StrCat(ns, ".svc")}) {
    const std::string suffix = StrCat(".", end);
    if (host.ends_with(suffix) && domain.starts_with(end)) {
      return StrCat(host.substr(0, host.size() - suffix.size()), ".", domain);
    }
  }
  return "";
}

ListenerNames ParseListenerNames(const std::vector<std::string>& names, std::string_view ns,
                                 std::string_view domain) {
  ListenerNames out;
  for (const std::string& name : names) {
    if (name.starts_with(kServerListenerPrefix)) {
      if (auto server = ParseServerName(name)) out.servers.push_back(*std::move(server));
      continue;
    }
    std::string_view host, port;
    const bool has_port = SplitHostPort(name, &host, &port);
    if (!has_port) host = name;
    Ask(host, host, port, has_port, &out);
    const std::string complete = CompleteHost(host, ns, domain);
    if (!complete.empty()) Ask(complete, host, port, has_port, &out);
  }
  return out;
}

}  // namespace fairlead::gen::grpc
