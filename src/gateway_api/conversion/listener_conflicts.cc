#include "gateway_api/conversion/listener_conflicts.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "config/tree.h"
#include "gateway_api/conversion/listener.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::Node;

struct Entry {
  std::string_view protocol, host;
  int64_t port = 0;
};

Entry EntryOf(const ConfigObject& owner, Node listener) {
  const std::string_view host = listener.Find("hostname").text();
  return {listener.Find("protocol").text(), host.empty() ? "*" : host, ListenerPort(owner, listener)};
}

bool IsLayer4(const Entry& e) { return e.protocol == "TCP" || e.protocol == "UDP"; }
bool HasHosts(const Entry& e) { return e.protocol == "HTTP" || e.protocol == "HTTPS" || e.protocol == "TLS"; }

bool AreDistinct(const Entry& a, const Entry& b, bool udp) {
  if (a.port != b.port) return true;
  // The ports of UDP are not those of TCP. Source: Gateway API, GatewaySpec.listeners ("distinct").
  if (udp && (a.protocol == "UDP") != (b.protocol == "UDP")) return true;
  if (IsLayer4(a) && (IsLayer4(b) || HasHosts(b))) return false;
  if (HasHosts(a) && IsLayer4(b)) return false;
  if (HasHosts(a) && HasHosts(b)) return a.host != b.host;
  return a.protocol != b.protocol;
}

std::string_view ReasonOf(const Entry& a, const Entry& b) {
  const bool both_layer4 = IsLayer4(a) && IsLayer4(b);
  return both_layer4 || a.protocol != b.protocol ? "ProtocolConflict" : "HostnameConflict";
}

void AddListeners(const ConfigObject& owner, bool udp, std::vector<Entry>* winners,
                  ListenerConflicts* conflicts) {
  for (Node listener : owner.Spec<config::Tree>().Find("spec").Find("listeners").elements()) {
    const Entry entry = EntryOf(owner, listener);
    const auto prior = std::find_if(winners->begin(), winners->end(),
                                    [&](const Entry& other) { return !AreDistinct(entry, other, udp); });
    if (prior == winners->end()) {
      winners->push_back(entry);
    } else {
      (*conflicts)[KeyOf(owner)][std::string(listener.Find("name").text())] = ReasonOf(entry, *prior);
    }
  }
}

}  // namespace

ListenerConflicts FindListenerConflicts(const ConfigObject& gateway, std::vector<ConfigPtr> sets, bool udp) {
  std::stable_sort(sets.begin(), sets.end(), [](const ConfigPtr& a, const ConfigPtr& b) {
    return std::tuple(a->meta().creation_time, a->ns().str() + "/" + a->name().str()) <
           std::tuple(b->meta().creation_time, b->ns().str() + "/" + b->name().str());
  });
  std::vector<Entry> winners;
  ListenerConflicts conflicts;
  AddListeners(gateway, udp, &winners, &conflicts);
  for (const ConfigPtr& set : sets) AddListeners(*set, udp, &winners, &conflicts);
  return conflicts;
}

}  // namespace fairlead::gateway_api
