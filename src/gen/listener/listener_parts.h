#ifndef FAIRLEAD_GEN_LISTENER_LISTENER_PARTS_H_
#define FAIRLEAD_GEN_LISTENER_LISTENER_PARTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/features.h"

namespace envoy::config::listener::v3 {
class FilterChain;
class Listener;
class ListenerFilter;
}  // namespace envoy::config::listener::v3

// Small parts that inbound and outbound listeners have in common. All pure.
namespace fairlead::gen::listener {

// The HTTP inspector's names of plaintext HTTP. HTTP/1.0 is not among it: proxies refuse it unless told
// otherwise, and as plain TCP it gets through.
inline constexpr const char* kPlaintextHttpAlpn[] = {"http/1.0", "http/1.1", "h2c"};
inline std::span<const char* const> PlaintextHttpAlpn(const model::Features& features) {
  return std::span(kPlaintextHttpAlpn).subspan(features.http10 ? 0 : 1);
}

std::string ListenerName(std::string_view bind, uint32_t port);
// The address, and the additional ones where there are several.
void SetAddresses(std::span<const std::string> binds, uint32_t port,
                  envoy::config::listener::v3::Listener* out);
void SetExactBalance(envoy::config::listener::v3::Listener* out);
// One connection an event-loop turn: Istio's defence against bursts. For listeners that the kernel knows.
void LimitAccepts(const model::Features& features, envoy::config::listener::v3::Listener* out);
// How long a handshake may take.
void LimitHandshake(const model::Features& features, envoy::config::listener::v3::FilterChain* out);

void SetTlsInspector(envoy::config::listener::v3::ListenerFilter* out);
void SetHttpInspector(envoy::config::listener::v3::ListenerFilter* out);
void SetOriginalDestination(envoy::config::listener::v3::ListenerFilter* out);
// TPROXY: keeps the client's address on the connection to the workload.
void SetOriginalSource(envoy::config::listener::v3::ListenerFilter* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_LISTENER_PARTS_H_
