#ifndef FAIRLEAD_APP_BENCH_MESH_H_
#define FAIRLEAD_APP_BENCH_MESH_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "config/store.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "model/proxy.h"
#include "model/proxy_class.h"
#include "model/settings.h"

namespace fairlead::app {

// For benchmarks: meshes and sidecars made up.

// A mesh whose sidecars have listeners.
inline model::SettingsPtr BenchSettings() {
  auto settings = std::make_shared<model::Settings>();
  auto mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
  mesh->set_proxy_listen_port(15001);
  mesh->set_proxy_inbound_listen_port(15006);
  settings->mesh = std::move(mesh);
  settings->networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
  return settings;
}

// Manifests of services of three ports, the i'th in the namespace i % namespaces, with five endpoints each,
// and of half of the namespaces' routes and rules.
struct BenchMesh {
  int namespaces, services;
  bool scoped;  // a Sidecar in each namespace imports that namespace only

  std::string Whole() const {
    std::string text;
    for (int ns = 0; scoped && ns < namespaces; ++ns) text += Sidecar(ns);
    for (int i = 0; i < services; ++i) {
      text += Service(i) + EndpointSlice(i, 5);
      if (i / namespaces % 2 == 0) text += Route(i, 1) + Rule(i, 1);
    }
    return text;
  }
  std::string Service(int i) const {
    return StrCat("apiVersion: v1\nkind: Service\n", Meta(i), "spec: {clusterIP: 10.96.", i / 250, ".",
                  i % 250 + 1, ", selector: {app: ", Name(i),
                  "}, ports: [{name: http, port: 80, targetPort: 8080}, {name: grpc, port: 9090}, ",
                  "{name: tcp, port: 5432}]}\n---\n");
  }
  std::string EndpointSlice(int i, int endpoints) const {
    std::string out = StrCat("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n",
                             Meta(i, StrCat(", labels: {kubernetes.io/service-name: ", Name(i), "}")),
                             "addressType: IPv4\nports: [{name: http, port: 8080}, ",
                             "{name: grpc, port: 9090}, {name: tcp, port: 5432}]\nendpoints:\n");
    for (int k = 0; k < endpoints; ++k) StrAppend(&out, "- {addresses: [", Address(i, k), "]}\n");
    return StrCat(out, "---\n");
  }
  std::string Route(int i, int seconds) const {
    return StrCat("apiVersion: networking.istio.io/v1\nkind: VirtualService\n", Meta(i), "spec: {hosts: [",
                  Host(i), "], http: [{timeout: ", seconds, "s, route: [{destination: {host: ", Host(i),
                  ", subset: v1}}]}]}\n---\n");
  }
  std::string Rule(int i, int connections) const {
    return StrCat("apiVersion: networking.istio.io/v1\nkind: DestinationRule\n", Meta(i),
                  "spec: {host: ", Host(i),
                  ", trafficPolicy: {connectionPool: {tcp: {maxConnections: ", connections,
                  "}}}, subsets: [{name: v1, labels: {version: v1}}]}\n---\n");
  }
  static std::string Sidecar(int ns) {
    return StrCat("apiVersion: networking.istio.io/v1\nkind: Sidecar\n",
                  "metadata: {name: default, namespace: ns-", ns,
                  "}\nspec: {egress: [{hosts: [./*, istio-system/*]}]}\n---\n");
  }

 private:
  static std::string Name(int i) { return StrCat("svc-", i); }
  std::string Host(int i) const { return StrCat(Name(i), ".ns-", i % namespaces, ".svc.cluster.local"); }
  std::string Meta(int i, std::string_view more = "") const {
    return StrCat("metadata: {name: ", Name(i), ", namespace: ns-", i % namespaces, more, "}\n");
  }
  static std::string Address(int service, int endpoint) {
    const int number = service * 5 + endpoint;
    return StrCat("10.", number / 62500, ".", number / 250 % 250, ".", number % 250 + 1);
  }
};

inline std::vector<config::ObjectChange> ParseChanges(std::string_view manifests) {
  std::vector<config::ObjectChange> changes;
  for (const config::ConfigPtr& object : config::ParseManifests(manifests, "bench.yaml").objects)
    changes.push_back({config::KeyOf(*object), object});
  return changes;
}

// A sidecar of the namespace, without a workload.
inline model::ProxyPtr BenchProxy(int ns, int number) {
  auto proxy = std::make_shared<model::Proxy>();
  proxy->ns = proxy->metadata.ns = StrCat("ns-", ns);
  proxy->id = StrCat("client-", number, ".ns-", ns);
  proxy->domain = StrCat("ns-", ns, ".svc.cluster.local");
  proxy->ip_addresses = {StrCat("10.200.", number / 250, ".", number % 250 + 1)};
  proxy->supports_ipv4 = true;
  proxy->proxy_class = model::ClassOf(*proxy);
  return proxy;
}

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_BENCH_MESH_H_
