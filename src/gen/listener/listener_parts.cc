#include "gen/listener/listener_parts.h"

#include "base/strings.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/listener/original_src/v3/original_src.pb.h"
#include "envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using envoy::config::listener::v3::Listener;
using envoy::config::listener::v3::ListenerFilter;

// Istio's mark on packets that Envoy itself sends, which its routing rules know.
constexpr uint32_t kOriginalSourceMark = 1337;

}  // namespace

std::string ListenerName(std::string_view bind, uint32_t port) { return StrCat(bind, '_', port); }

void SetAddresses(std::span<const std::string> binds, uint32_t port, Listener* out) {
  proto::SetAddress(binds.front(), port, out->mutable_address());
  for (const std::string& bind : binds.subspan(1)) {
    if (!bind.empty()) proto::SetAddress(bind, port, out->add_additional_addresses()->mutable_address());
  }
}

void SetExactBalance(Listener* out) { out->mutable_connection_balance_config()->mutable_exact_balance(); }

void LimitAccepts(const model::Features& features, Listener* out) {
  if (features.accepts_per_event == 0) return;
  out->mutable_max_connections_to_accept_per_socket_event()->set_value(
      static_cast<uint32_t>(features.accepts_per_event));
}

void LimitHandshake(const model::Features& features, envoy::config::listener::v3::FilterChain* out) {
  if (features.handshake_timeout.count() == 0) return;
  proto::SetNanoseconds(features.handshake_timeout.count(), out->mutable_transport_socket_connect_timeout());
}

void SetTlsInspector(ListenerFilter* out) {
  envoy::extensions::filters::listener::tls_inspector::v3::TlsInspector config;
  config.mutable_initial_read_buffer_size()->set_value(512);
  out->set_name("envoy.filters.listener.tls_inspector");
  proto::Pack(config, out->mutable_typed_config());
}

void SetHttpInspector(ListenerFilter* out) {
  out->set_name("envoy.filters.listener.http_inspector");
  proto::PackEmpty("envoy.extensions.filters.listener.http_inspector.v3.HttpInspector",
                   out->mutable_typed_config());
}

void SetOriginalDestination(ListenerFilter* out) {
  out->set_name("envoy.filters.listener.original_dst");
  proto::PackEmpty("envoy.extensions.filters.listener.original_dst.v3.OriginalDst",
                   out->mutable_typed_config());
}

void SetOriginalSource(ListenerFilter* out) {
  envoy::extensions::filters::listener::original_src::v3::OriginalSrc config;
  config.set_mark(kOriginalSourceMark);
  out->set_name("envoy.filters.listener.original_src");
  proto::Pack(config, out->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
