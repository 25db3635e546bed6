#include "gateway_api/conversion/inference_pool.h"

#include <openssl/sha.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "base/strings.h"
#include "config/content_hash.h"
#include "config/derived_object.h"
#include "config/kubernetes_types.h"
#include "config/read/tree_object.h"
#include "config/tree.h"
#include "gateway_api/group_kind.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::Kind;
using config::Node;
using config::ObjectKey;
using config::SpecOf;

constexpr size_t kLongestName = 63;
constexpr size_t kHashBytes = 4;
constexpr std::string_view kFailOpen = "FailOpen", kFailClose = "FailClose";

Node PickerRef(const ConfigObject& pool) { return SpecOf(pool).Find("endpointPickerRef"); }

std::string_view FailureMode(const ConfigObject& pool) {
  const Node mode = PickerRef(pool).Find("failureMode");
  return mode.IsNull() ? kFailClose : mode.text();
}

LabelMap SelectorOf(const ConfigObject& pool) {
  LabelMap selector;
  for (const Node::Entry& entry : SpecOf(pool).Find("selector").Find("matchLabels").entries())
    selector.emplace(entry.key, entry.value.text());
  return selector;
}

std::string HashText(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest), kHashBytes});
}

// An object of a core kind that is made of a pool, and as old.
template <typename Spec>
ConfigPtr MakeOfPool(Kind kind, const ConfigObject& pool, const std::string& name, LabelMap labels,
                     Spec spec) {
  config::ObjectMeta meta;
  meta.name = name;
  meta.ns = pool.ns();
  meta.labels = std::move(labels);
  meta.creation_time = pool.meta().creation_time;
  config::ContentHash hash;
  hash.Add(static_cast<uint8_t>(kind)).Add(meta).Add(spec);
  return std::make_shared<const ConfigObject>(kind, std::move(meta), pool.origin(),
                                              std::make_shared<const Spec>(std::move(spec)), hash.value());
}

std::string PortName(size_t place) { return StrCat("http-", place); }

// As the controller of EndpointSlices would: what is about to go or not ready is told apart.
config::SliceEndpoint EndpointOf(const ConfigObject& pod) {
  const auto& spec = pod.Spec<config::PodSpec>();
  config::SliceEndpoint endpoint;
  endpoint.addresses = {spec.pod_ip};
  endpoint.ready = spec.ready && !pod.meta().deleting;
  endpoint.serving = spec.ready;
  endpoint.terminating = pod.meta().deleting;
  endpoint.node_name = spec.node_name;
  endpoint.target = {"Pod", std::string(pod.ns()), std::string(pod.name())};
  return endpoint;
}

bool Serves(const ConfigObject& pod, const LabelMap& selector) {
  const auto& spec = pod.Spec<config::PodSpec>();
  return !spec.pod_ip.empty() && spec.phase != "Failed" && spec.phase != "Succeeded" &&
         SelectorMatches(selector, pod.meta().labels);
}

}  // namespace

std::string PoolServiceName(std::string_view pool) {
  const std::string rest = StrCat("-ip-", HashText(pool));
  return StrCat(pool.substr(0, kLongestName - rest.size()), rest);
}

std::optional<EndpointPicker> PickerOf(const ConfigObject& pool, std::string_view domain) {
  const Node port = PickerRef(pool).Find("port");
  if (port.IsNull()) return std::nullopt;
  EndpointPicker picker;
  picker.host = StrCat(PickerRef(pool).Find("name").text(), ".", pool.ns().str(), ".svc.", domain);
  picker.port = static_cast<uint32_t>(port.Find("number").Unsigned().value_or(0));
  picker.fails_open = FailureMode(pool) == kFailOpen;
  return picker;
}

std::vector<ObjectKey> NamedPools(const ConfigObject& route) {
  if (route.kind() != Kind::kHttpRoute) return {};
  std::set<ObjectKey> pools;
  for (Node rule : SpecOf(route).Find("rules").elements()) {
    for (Node backend : rule.Find("backendRefs").elements()) {
      if (ReferredKind(backend) != GroupKindOf(Kind::kInferencePool)) continue;
      pools.insert(
          {Kind::kInferencePool, ReferredNamespace(backend, route.ns()), backend.Find("name").text()});
    }
  }
  return {pools.begin(), pools.end()};
}

ConfigPtr MakePoolService(const ConfigObject& pool) {
  config::ServiceSpec spec;
  spec.cluster_ip = "None";
  spec.selector = SelectorOf(pool);
  const Node protocol = SpecOf(pool).Find("appProtocol");
  for (Node target : SpecOf(pool).Find("targetPorts").elements()) {
    config::ServicePortSpec port;
    port.name = PortName(spec.ports.size());
    port.port = kFirstPoolPort + static_cast<int>(spec.ports.size());
    port.target_port.number = static_cast<int>(target.Find("number").Int().value_or(0));
    if (!protocol.IsNull() && !protocol.text().empty()) port.app_protocol = protocol.text();
    spec.ports.push_back(std::move(port));
  }
  const Node reference = PickerRef(pool);
  LabelMap labels;
  labels.emplace("istio.io/inferencepool-name", pool.name().str());
  labels.emplace("istio.io/inferencepool-extension-service", reference.Find("name").text());
  labels.emplace("istio.io/inferencepool-extension-port", reference.Find("port").Find("number").text());
  labels.emplace("istio.io/inferencepool-extension-failure-mode", FailureMode(pool));
  labels.emplace(config::kServiceSemanticsLabel, config::kInferencePoolSemantics);
  return MakeOfPool(Kind::kService, pool, PoolServiceName(pool.name().str()), std::move(labels),
                    std::move(spec));
}

ConfigPtr MakePoolSlice(const ConfigObject& pool, const std::vector<ConfigPtr>& pods) {
  const LabelMap selector = SelectorOf(pool);
  config::EndpointSliceSpec spec;
  for (const ConfigPtr& pod : pods) {
    if (Serves(*pod, selector)) spec.endpoints.push_back(EndpointOf(*pod));
  }
  if (spec.endpoints.empty()) return nullptr;
  for (Node target : SpecOf(pool).Find("targetPorts").elements()) {
    config::SlicePort port;
    port.name = PortName(spec.ports.size());
    port.port = static_cast<int>(target.Find("number").Int().value_or(0));
    spec.ports.push_back(std::move(port));
  }
  std::string service = PoolServiceName(pool.name().str());
  LabelMap labels;
  labels.emplace("kubernetes.io/service-name", service);
  return MakeOfPool(Kind::kEndpointSlice, pool, StrCat(service, "-pods"), std::move(labels), std::move(spec));
}

}  // namespace fairlead::gateway_api
