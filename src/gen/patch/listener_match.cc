#include "gen/patch/listener_match.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "gen/patch/apply.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

namespace fairlead::gen::patch {
namespace {

using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::FilterChainMatch;
using envoy::config::listener::v3::Listener;
using istio::networking::v1alpha3::EnvoyFilter;
using WantedChain = EnvoyFilter::ListenerMatch::FilterChainMatch;

bool IsVirtual(std::string_view name) { return name == "virtualInbound" || name == "virtualOutbound"; }

template <typename Strings>
bool Holds(const Strings& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool HoldsAll(const FilterChainMatch& match, std::string_view comma_separated) {
  for (std::string_view wanted : Split(comma_separated, ',')) {
    if (!Holds(match.application_protocols(), wanted)) return false;
  }
  return true;
}

bool Matches(const WantedChain& wanted, const FilterChain& chain) {
  const FilterChainMatch& match = chain.filter_chain_match();
  if (!wanted.name().empty() && wanted.name() != chain.name()) return false;
  if (!wanted.sni().empty() && !Holds(match.server_names(), wanted.sni())) return false;
  if (!wanted.transport_protocol().empty() && wanted.transport_protocol() != match.transport_protocol())
    return false;
  if (!wanted.application_protocols().empty() && !HoldsAll(match, wanted.application_protocols()))
    return false;
  return wanted.destination_port() == 0 ||
         (match.has_destination_port() && match.destination_port().value() == wanted.destination_port());
}

const EnvoyFilter::ListenerMatch::FilterMatch& FilterOf(const Patch& patch) {
  return patch.match().listener().filter_chain().filter();
}

}  // namespace

bool MatchesListener(const Patch& patch, std::string_view name, uint32_t port) {
  if (!patch.match().has_listener()) return true;
  const EnvoyFilter::ListenerMatch& wanted = patch.match().listener();
  if (!wanted.name().empty() && wanted.name() != name) return false;
  // The ports behind the virtual listeners are those of filter chains.
  if (patch.apply_to != EnvoyFilter::LISTENER && IsVirtual(name)) return true;
  return wanted.port_number() == 0 || wanted.port_number() == port;
}

bool MatchesListener(const Patch& patch, const Listener& listener) {
  return MatchesListener(patch, listener.name(), listener.address().socket_address().port_value());
}

bool MatchesChain(const Patch& patch, const Listener& listener, const FilterChain& chain) {
  if (!patch.match().has_listener()) return true;
  const EnvoyFilter::ListenerMatch& wanted = patch.match().listener();
  if (IsVirtual(listener.name()) && wanted.port_number() > 0 &&
      chain.filter_chain_match().destination_port().value() != wanted.port_number()) {
    return false;
  }
  return !wanted.has_filter_chain() || Matches(wanted.filter_chain(), chain);
}

bool NamesListenerFilter(const Patch& patch) { return !patch.match().listener().listener_filter().empty(); }

bool MatchesListenerFilter(const Patch& patch, const std::string& name) {
  return !NamesListenerFilter(patch) || patch.match().listener().listener_filter() == name;
}

bool NamesNetworkFilter(const Patch& patch) { return patch.match().listener().filter_chain().has_filter(); }

bool MatchesNetworkFilter(const Patch& patch, const std::string& name) {
  return !NamesNetworkFilter(patch) || FilterOf(patch).name() == name;
}

bool NamesHttpFilter(const Patch& patch) {
  return NamesNetworkFilter(patch) && FilterOf(patch).has_sub_filter();
}

bool MatchesHttpFilter(const Patch& patch, const std::string& name) {
  return !NamesHttpFilter(patch) || FilterOf(patch).sub_filter().name() == name;
}

}  // namespace fairlead::gen::patch
