#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "istio/envoy/config/filter/http/alpn/v2alpha1/config.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using AlpnConfig = istio::envoy::config::filter::http::alpn::v2alpha1::FilterConfig;

// "istio-…" tells the server's sidecar which protocol is inside the mutual TLS; the plain names are for
// servers outside.
void AddOverride(AlpnConfig::Protocol protocol, std::initializer_list<const char*> alpn, AlpnConfig* out) {
  auto* override = out->add_alpn_override();
  override->set_upstream_protocol(protocol);
  for (const char* name : alpn) override->add_alpn_override(name);
}

}  // namespace

void AddAlpn(const FilterRequest& request, HttpFilters* out) {
  constexpr std::string_view kName = "istio.alpn";
  if (request.options.traffic == TrafficClass::kInbound || !request.traits.HasExtension(kName)) return;
  if (!request.traits.settings->features.alpn_filter) return;
  AlpnConfig config;
  AddOverride(AlpnConfig::HTTP10, {"istio-http/1.0", "istio", "http/1.0"}, &config);
  AddOverride(AlpnConfig::HTTP11, {"istio-http/1.1", "istio", "http/1.1"}, &config);
  AddOverride(AlpnConfig::HTTP2, {"istio-h2", "istio", "h2"}, &config);
  auto* filter = out->Add();
  filter->set_name(std::string(kName));
  proto::Pack(config, filter->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
