#include "agent/trust_stream.h"

#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"

namespace fairlead::agent {
namespace {

using envoy::service::discovery::v3::DiscoveryResponse;

LogScope trust_log("trust");

constexpr char kType[] = "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig";

// A mesh that says nothing of it leaves what was said.
absl::Status Take(const DiscoveryResponse& response, SecretStore* store) {
  if (response.resources().empty()) return absl::OkStatus();
  istio::mesh::v1alpha1::ProxyConfig config;
  if (!response.resources(0).UnpackTo(&config)) return absl::InvalidArgumentError("not a ProxyConfig");
  store->SetTrusted({config.ca_certificates_pem().begin(), config.ca_certificates_pem().end()});
  return absl::OkStatus();
}

}  // namespace

TrustStream::TrustStream(TrustStreamOptions options, SecretStore* store)
    : control_plane_(options.control_plane.address), stream_(StreamOf(std::move(options), store)) {}

LastingStreamOptions TrustStream::StreamOf(TrustStreamOptions options, SecretStore* store) {
  LastingStreamOptions stream{
      .control_plane = std::move(options.control_plane), .node = std::move(options.node), .type = kType};
  stream.first_retry = options.first_retry;
  stream.own = [store] { return store->Get("default").value_or(Secret()); };
  stream.take = [store](const DiscoveryResponse& response) { return Take(response, store); };
  stream.ended = [this](const absl::Status& why) { OnEnd(why); };
  return stream;
}

void TrustStream::OnEnd(const absl::Status& why) {
  std::string text(FromAbsl(why.message()));
  if (text != last_end_ && !text.empty())
    trust_log.Warn("{}: {}; the trusted roots stay", control_plane_, text);
  last_end_ = std::move(text);
}

}  // namespace fairlead::agent
