#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "mesh/index/destination_rule_index.h"
#include "mesh/index/policy_index.h"
#include "mesh/view/gateway_scopes.h"
#include "mesh/view/proxy_scope.h"
#include "mesh/view/sidecar_scopes.h"
#include "model/proxy_class.h"
#include "push/stream/generators.h"
#include "push/stream/part_cache.h"
#include "state/mesh.h"

// A law of all caches of values with recorded reads: what is kept of the meshes that came and went does not
// grow with their number. Each kept value holds the parts that it was made from, so these are counted.
namespace fairlead::push {
namespace {

using xds::TypeId;

constexpr std::string_view kMesh = R"(
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: default, namespace: shop}
spec: {egress: [{hosts: [./*, lib/web.lib.svc.cluster.local]}]}
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: entry, namespace: istio-system}
spec: {selector: {app: entry}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["*"]}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec:
  hosts: [web.shop.svc.cluster.local]
  gateways: [istio-system/entry, mesh]
  http: [{route: [{destination: {host: web.shop.svc.cluster.local}}]}]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: lib}
spec: {host: web.lib.svc.cluster.local, subsets: [{name: v1, labels: {version: v1}}]}
---
)";

std::string Service(const std::string& ns, const std::string& name, int port) {
  return StrCat("apiVersion: v1\nkind: Service\nmetadata: {name: ", name, ", namespace: ", ns,
                "}\nspec: {clusterIP: 10.96.0.", name.size(), ", selector: {app: ", name,
                "}, ports: [{name: http, port: ", port, "}]}\n---\n");
}

std::string EndpointSlice(const std::string& ns, const std::string& name, int number) {
  return StrCat("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: ", name,
                ", namespace: ", ns, ", labels: {kubernetes.io/service-name: ", name,
                "}}\naddressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.",
                number / 200, ".", number % 200 + 1, "]}]\n---\n");
}

// One that the sidecar sees nothing of, unlike any before; of each kind in turn.
std::string IrrelevantChange(int step) {
  const std::string other = "apiVersion: networking.istio.io/v1\nkind: ";
  switch (step % 5) {
    case 0:
      return Service("lib", "other", 1000 + step);
    case 1:
      return EndpointSlice("lib", "other", step);
    case 2:
      return StrCat(other, "VirtualService\nmetadata: {name: other, namespace: lib}\nspec: {hosts: [other], ",
                    "http: [{timeout: ", step, "s, route: [{destination: {host: other}}]}]}\n");
    case 3:
      return StrCat(other, "DestinationRule\nmetadata: {name: other, namespace: lib}\n",
                    "spec: {host: other, subsets: [{name: v", step, "}]}\n");
    default:
      return StrCat(
          "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\n",
          "metadata: {name: other, namespace: shop}\nspec: {selector: {matchLabels: {app: nobody}}, ",
          "rules: [{to: [{operation: {ports: ['", step + 1, "']}}]}]}\n");
  }
}

model::ProxyPtr MakeProxy(model::ProxyType type, const std::string& ns, const std::string& app) {
  auto proxy = std::make_shared<model::Proxy>();
  proxy->type = type;
  proxy->ns = proxy->metadata.ns = ns;
  proxy->id = StrCat(app, ".", ns);
  proxy->metadata.labels = {{"app", app}};
  proxy->domain = StrCat(ns, ".svc.cluster.local");
  proxy->ip_addresses = {"10.200.0.1"};
  proxy->supports_ipv4 = true;
  proxy->proxy_class = model::ClassOf(*proxy);
  return proxy;
}

// A client that has what it is to be sent of each type.
struct Client {
  model::ProxyPtr proxy;
  std::map<TypeId, xds::NameSetPtr> names;  // null: all
  mesh::ProxyScopePtr scope = nullptr;
  std::map<TypeId, LastResources> made = {};
};

class LeftBehindTest : public testing::Test {
 protected:
  LeftBehindTest() {
    auto settings = std::make_shared<model::Settings>();
    auto config = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
    config->set_proxy_listen_port(15001);
    config->set_proxy_inbound_listen_port(15006);
    settings->mesh = std::move(config);
    settings->networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
    const xds::NameSetPtr clusters = xds::NameSet::Of(
        {"outbound|80||web.shop.svc.cluster.local", "outbound|80||web.lib.svc.cluster.local"});
    clients_.push_back({MakeProxy(model::ProxyType::kSidecar, "shop", "web"),
                        {{TypeId::kCluster, nullptr},
                         {TypeId::kEndpoint, clusters},
                         {TypeId::kListener, nullptr},
                         {TypeId::kRoute, xds::NameSet::Of({"80"})},
                         {TypeId::kNameTable, nullptr}}});
    clients_.push_back({MakeProxy(model::ProxyType::kRouter, "istio-system", "entry"),
                        {{TypeId::kCluster, nullptr},
                         {TypeId::kEndpoint, clusters},
                         {TypeId::kListener, nullptr},
                         {TypeId::kRoute, xds::NameSet::Of({"http.80"})}}});
    std::string text(kMesh);
    for (const auto& [ns, name] :
         {std::pair("shop", "web"), std::pair("lib", "web"), std::pair("lib", "other")})
      text += Service(ns, name, 80) + EndpointSlice(ns, name, 0);
    Apply(text, settings);
  }

  void Apply(std::string_view manifests, const model::SettingsPtr& settings = nullptr) {
    std::vector<config::ObjectChange> changes;
    for (const config::ConfigPtr& object : config::ParseManifests(manifests, "mesh.yaml").objects)
      changes.push_back({config::KeyOf(*object), object});
    ASSERT_FALSE(changes.empty()) << manifests;
    const mesh::SnapshotPtr now = mesh_.Apply(changes, settings).snapshot;
    ASSERT_NE(now, nullptr) << manifests;
    snapshot_ = now;
    for (Client& client : clients_) {
      client.scope = mesh::ComputeProxyScope(*snapshot_, client.proxy, client.scope);
      for (const auto& [type, names] : client.names)
        parts_.Make(*generators_[static_cast<size_t>(type)], {*snapshot_, client.scope.get()}, names,
                    &client.made[type]);
    }
    Watch("snapshot", snapshot_);
    Watch("services", snapshot_->services);
    Watch("services of a namespace", snapshot_->services->Namespace("lib"));
    Watch("service", snapshot_->services->Find("other.lib.svc.cluster.local", "lib"));
    Watch("endpoints of a namespace", snapshot_->endpoints->Namespace("lib"));
    Watch("VirtualServices", snapshot_->virtual_services);
    Watch("rules of a namespace", snapshot_->destination_rules->Namespace("lib"));
    Watch("policies of a namespace", snapshot_->policies->Part(config::Kind::kAuthorizationPolicy, "shop"));
  }
  void Watch(const std::string& name, const std::shared_ptr<const void>& part) {
    if (part != nullptr) seen_[name][part.get()] = part;
  }
  void Sweep() {
    now_ += std::chrono::seconds(20);
    for (const auto& generator : generators_) {
      if (generator != nullptr) generator->Sweep(now_);
    }
    parts_.Sweep(now_);
    snapshot_->scopes->Sweep(now_);
    snapshot_->gateway_scopes->Sweep(now_);
  }
  size_t Alive(const std::string& name) const {
    size_t alive = 0;
    for (const auto& [address, part] : seen_.at(name)) alive += part.expired() ? 0 : 1;
    return alive;
  }

  state::Mesh mesh_;
  mesh::SnapshotPtr snapshot_;
  Generators generators_ = MakeGenerators();
  PartCache parts_;
  std::vector<Client> clients_;
  Clock::time_point now_ = Clock::now();
  // By what it is and its address.
  std::map<std::string, std::map<const void*, std::weak_ptr<const void>>> seen_;
};

// A list that proxies have may hold a resource of the mesh that it was made in first, with what that was made
// from: so many for each list, however many meshes came since.
constexpr size_t kOfToday = 1, kOfListsInUse = 2;

TEST_F(LeftBehindTest, AThousandIrrelevantChangesLeaveNextToNothing) {
  for (int step = 0; step < 1000; ++step) {
    Apply(IrrelevantChange(step));
    if (HasFatalFailure()) return;
    if (step % 20 == 19) Sweep();
  }
  for (int i = 0; i < 3; ++i) Sweep();
  for (const auto& [name, parts] : seen_) {
    EXPECT_GE(parts.size(), 200u) << name << " changed";
    EXPECT_GE(Alive(name), kOfToday) << name;
    EXPECT_LE(Alive(name), kOfToday + kOfListsInUse) << name;
  }
}

}  // namespace
}  // namespace fairlead::push
