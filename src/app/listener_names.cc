#include "app/listener_names.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/own_addresses.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

// "10.0.0.1" of "10.0.0.1:15012", "fd00::1" of "[fd00::1]:15012", "" of ":15012".
std::string HostOf(std::string_view address) {
  std::string_view host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return std::string(host);
}

bool IsHostName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

void AddNamesOfMachine(const std::string& listener, std::vector<std::string>* names) {
  names->emplace_back("localhost");
  char machine[HOST_NAME_MAX + 1] = "";
  if (gethostname(machine, HOST_NAME_MAX) == 0 && IsHostName(machine)) names->emplace_back(machine);
  const std::string host = HostOf(listener);
  if (!host.empty() && host != "0.0.0.0" && host != "::") {
    names->push_back(host);
    return;
  }
  for (std::string& address : OwnAddresses()) names->push_back(std::move(address));
}

}  // namespace

std::vector<std::string> ListenerNames(const DiscoveryOptions& options) {
  std::vector<std::string> names;
  for (const std::string* list : {&options.environment.custom_host, &options.environment.server_name}) {
    for (std::string_view one : Split(*list, ',')) {
      if (!Trim(one).empty()) names.emplace_back(Trim(one));
    }
  }
  for (std::string_view service : {"istiod", "istiod-remote", "istio-pilot"})
    names.push_back(StrCat(service, ".", options.ns, ".svc"));
  // Source: Istio's getDNSNames.
  if (const std::string& revision = options.environment.revision; !revision.empty() && revision != "default")
    names.push_back(StrCat("istiod-", revision, ".", options.ns, ".svc"));
  if (!options.config_dir.empty() && !options.secure_grpc_addr.starts_with("unix:"))
    AddNamesOfMachine(options.secure_grpc_addr, &names);
  std::vector<std::string> unique;
  for (std::string& name : names) {
    if (std::find(unique.begin(), unique.end(), name) == unique.end()) unique.push_back(std::move(name));
  }
  return unique;
}

}  // namespace fairlead::app
