#include "tests/fuzz/any_client.h"

#include <google/protobuf/struct.pb.h>

#include <array>
#include <iterator>
#include <string_view>

#include "base/strings.h"
#include "envoy/config/core/v3/base.pb.h"
#include "envoy/service/discovery/v3/discovery.pb.h"

namespace fairlead::fuzz {
namespace {

using envoy::config::core::v3::Node;
using google::protobuf::Value;

template <size_t kCount>
std::string OneOf(Choices* choices, const std::string_view (&texts)[kCount]) {
  return std::string(texts[choices->Below(kCount)]);
}

constexpr std::string_view kTypes[] = {"sidecar",  "sidecar", "sidecar", "router", "router",
                                       "waypoint", "ztunnel", "agent",   "",       "Sidecar"};
constexpr std::string_view kAddresses[] = {"10.0.0.1", "10.1.1.1", "fd00::1", "0.0.0.0", "nowhere", ""};
constexpr std::string_view kNamespaces[] = {"default", "shop", "istio-system", "a", "prod", ""};
constexpr std::string_view kGenerators[] = {"grpc", "api", "event", "xds", ""};
constexpr std::string_view kTexts[] = {
    "",         "1",   "true",        "TPROXY",     "NONE",
    "n1,n2",    ",,,", "10.0.0.1,::", "127.0.0.1:", "15053",
    "default",  "80",  "1.27.0",      "{}",         "[{\"containerPort\":8080}]",
    "\x1b[2J\n"};
// Keys that are read, each by something else, and one that is not.
constexpr std::string_view kKeys[] = {"GENERATOR",
                                      "NAMESPACE",
                                      "LABELS",
                                      "ANNOTATIONS",
                                      "CLUSTER_ID",
                                      "NETWORK",
                                      "REQUESTED_NETWORK_VIEW",
                                      "INSTANCE_IPS",
                                      "INTERCEPTION_MODE",
                                      "HTTP10",
                                      "POD_PORTS",
                                      "PROXY_CONFIG",
                                      "DNS_CAPTURE",
                                      "DNS_PROXY_ADDR",
                                      "HTTP_PROXY_PORT",
                                      "IDLE_TIMEOUT",
                                      "ISTIO_VERSION",
                                      "METADATA_DISCOVERY",
                                      "ENABLE_HBONE",
                                      "DISABLE_HBONE_SEND",
                                      "UNPRIVILEGED_POD",
                                      "ENVOY_STATUS_PORT",
                                      "ENVOY_PROMETHEUS_PORT",
                                      "SERVICE_ACCOUNT",
                                      "NODE_NAME",
                                      "WORKLOAD_NAME",
                                      "MESH_ID",
                                      "STATIC_LABELS",
                                      "PLATFORM_METADATA",
                                      "TLS_CLIENT_CERT_CHAIN",
                                      "TLS_CLIENT_KEY",
                                      "TLS_SERVER_CERT_CHAIN",
                                      "INBOUND_LISTENER_EXACT_BALANCE",
                                      "FAIRLEAD_XDS_CLUSTER",
                                      "FAIRLEAD_CERTIFICATES",
                                      "ANYTHING"};
constexpr std::string_view kMembers[] = {"app",
                                         "version",
                                         "istio.io/rev",
                                         "tracing",
                                         "proxyHeaders",
                                         "customTags",
                                         "literal",
                                         "value",
                                         "gatewayTopology",
                                         "holdApplicationUntilProxyStarts",
                                         ""};
constexpr std::string_view kNames[] = {"80",
                                       "8080",
                                       "9080",
                                       "http.80",
                                       "http.8080",
                                       "https.443.https.gateway.istio-system",
                                       "inbound|80||",
                                       "outbound|80||web.default.svc.cluster.local",
                                       "outbound|9080|v1|reviews.default.svc.cluster.local",
                                       "outbound_.80_._.web.default.svc.cluster.local",
                                       "80/web.default.svc.cluster.local",
                                       "web.default.svc.cluster.local:80",
                                       "0.0.0.0_80",
                                       "virtualInbound",
                                       "xds.istio.io/grpc/lds/inbound/0.0.0.0:8080",
                                       "kubernetes://tls",
                                       "default",
                                       "ROOTCA",
                                       "*",
                                       "|||",
                                       "outbound|99999999999||",
                                       "\x1b[2J\n",
                                       "",
                                       "http.",
                                       "https.443..."};
constexpr std::string_view kOtherUrls[] = {"istio.io/debug",
                                           "istio.io/debug/syncz",
                                           "networking.istio.io/v1/VirtualService",
                                           "core/v1alpha1/MeshConfig",
                                           "security.istio.io/v1/AuthorizationPolicy",
                                           "type.googleapis.com/istio.v1.HealthInformation",
                                           "type.googleapis.com/istio.workload.Address",
                                           "type.googleapis.com/envoy.api.v2.Cluster",
                                           "type.googleapis.com/envoy.service.runtime.v3.Runtime",
                                           "nothing",
                                           ""};

void ChooseValue(Choices* choices, int depth, Value* out) {
  switch (choices->Below(depth > 3 ? 5 : 8)) {
    case 0:
    case 1:
      out->set_string_value(OneOf(choices, kTexts));
      break;
    case 2:
      out->set_number_value(choices->Flip() ? 8080 : -1e300);
      break;
    case 3:
      out->set_bool_value(choices->Flip());
      break;
    case 4:
      out->set_null_value({});
      break;
    case 5:
      for (unsigned i = choices->Below(4); i > 0; --i)
        ChooseValue(choices, depth + 1, out->mutable_list_value()->add_values());
      break;
    default: {
      auto& fields = *out->mutable_struct_value()->mutable_fields();
      for (unsigned i = choices->Below(4); i > 0; --i)
        ChooseValue(choices, depth + 1, &fields[OneOf(choices, kMembers)]);
    }
  }
}

template <typename Names>
void ChooseNames(Choices* choices, Names* out) {
  for (unsigned i = choices->Below(6); i > 0; --i) *out->Add() = OneOf(choices, kNames);
}

template <typename Request>
void ChooseAnswer(Choices* choices, const std::string& nonce, Request* request) {
  const unsigned how = choices->Below(4);
  if (how == 0) return;
  request->set_response_nonce(how == 1 ? "of another" : nonce);
  if (how != 3) return;
  request->mutable_error_detail()->set_code(13);
  request->mutable_error_detail()->set_message(OneOf(choices, kTexts));
}

}  // namespace

std::string ChooseNode(Choices* choices) {
  Node node;
  const std::string ns = OneOf(choices, kNamespaces);
  const std::string type = OneOf(choices, kTypes), address = OneOf(choices, kAddresses);
  node.set_id(StrCat(type, "~", address, "~web-1.", ns, "~", ns, ".svc.cluster.local"));
  if (choices->Below(16) == 1) node.set_id(OneOf(choices, kTexts));
  auto& metadata = *node.mutable_metadata()->mutable_fields();
  if (choices->Below(4) == 1) metadata["GENERATOR"].set_string_value(OneOf(choices, kGenerators));
  for (unsigned i = choices->Below(6); i > 0; --i) ChooseValue(choices, 0, &metadata[OneOf(choices, kKeys)]);
  if (choices->Flip()) node.mutable_locality()->set_region(OneOf(choices, kTexts));
  if (choices->Below(4) == 1) node.add_extensions()->set_name("envoy.filters.http.router");
  return node.SerializeAsString();
}

push::StreamOptions ChooseOptions(Choices* choices) {
  push::StreamOptions options;
  options.peer.address = "10.0.0.1:4000";
  options.framing = choices->Flip() ? xds::Framing::kDelta : xds::Framing::kStateOfTheWorld;
  if (choices->Flip()) return options;
  options.only = xds::kTypes[choices->Below(xds::kTypes.size())].id;
  constexpr push::Exchange kExchanges[] = {push::Exchange::kStream, push::Exchange::kFetch,
                                           push::Exchange::kPoll};
  options.exchange = kExchanges[choices->Below(3)];
  if (options.exchange != push::Exchange::kStream) options.framing = xds::Framing::kStateOfTheWorld;
  return options;
}

std::string ChooseUrl(Choices* choices, const push::StreamOptions& options) {
  if (choices->Below(8) == 1) return OneOf(choices, kOtherUrls);
  if (options.only) return choices->Flip() ? std::string(xds::InfoOf(*options.only).url) : "";
  return std::string(xds::kTypes[choices->Below(xds::kTypes.size())].url);
}

std::string ChooseRequest(Choices* choices, const push::StreamOptions& options, const std::string& nonce,
                          const std::string& node) {
  const std::string url = ChooseUrl(choices, options);
  if (options.framing == xds::Framing::kDelta) {
    envoy::service::discovery::v3::DeltaDiscoveryRequest request;
    if (!node.empty()) request.mutable_node()->ParseFromString(node);
    request.set_type_url(url);
    ChooseNames(choices, request.mutable_resource_names_subscribe());
    if (choices->Flip()) ChooseNames(choices, request.mutable_resource_names_unsubscribe());
    if (choices->Below(4) == 1) (*request.mutable_initial_resource_versions())[OneOf(choices, kNames)] = "1";
    ChooseAnswer(choices, nonce, &request);
    return request.SerializeAsString();
  }
  envoy::service::discovery::v3::DiscoveryRequest request;
  if (!node.empty()) request.mutable_node()->ParseFromString(node);
  request.set_type_url(url);
  ChooseNames(choices, request.mutable_resource_names());
  ChooseAnswer(choices, nonce, &request);
  return request.SerializeAsString();
}

}  // namespace fairlead::fuzz
