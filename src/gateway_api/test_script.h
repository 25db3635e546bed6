#ifndef FAIRLEAD_GATEWAY_API_TEST_SCRIPT_H_
#define FAIRLEAD_GATEWAY_API_TEST_SCRIPT_H_

#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

#include "base/strings.h"

// For tests: objects by chance.
namespace fairlead::gateway_api {

// A few objects that refer to each other, by chance.
class Script {
 public:
  explicit Script(uint32_t seed) : random_(seed) {}

  std::string Manifest() {
    switch (Dice(12)) {
      case 0:
        return StrCat("apiVersion: v1\nkind: Service\nmetadata: {name: ", Name(), ", namespace: ", Ns(),
                      "}\nspec: {ports: [{name: http, port: ", 80 + Dice(2), "}]}\n");
      case 1:
        return StrCat("apiVersion: v1\nkind: Namespace\nmetadata: {name: ", Ns(),
                      ", labels: {tide: ", Pick({"high", "low"}), "}}\n");
      case 2:
        return Head("GatewayClass", "") +
               "spec: {controllerName: " + Pick({"istio.io/gateway-controller", "other.example/controller"}) +
               "}\n";
      case 3:
      case 4:
        return Head("Gateway", Ns()) + "spec:\n  gatewayClassName: " + Pick({"istio", "a", "istio-remote"}) +
               "\n  allowedListeners: {namespaces: {from: " + Pick({"All", "Same", "None"}) + "}}\n" +
               Listeners();
      case 5:
        return Head("ListenerSet", Ns()) + "spec:\n  parentRef: {name: " + Name() + ", namespace: " + Ns() +
               "}\n" + Listeners();
      case 6:
        return Head("ReferenceGrant", Ns()) + "spec:\n  from: [{group: gateway.networking.k8s.io, kind: " +
               Pick({"HTTPRoute", "TCPRoute", "UDPRoute", "Gateway"}) + ", namespace: " + Ns() +
               "}]\n  to: [{group: '', kind: " + Pick({"Service", "Secret"}) + "}]\n";
      case 7:
        return Head("BackendTLSPolicy", Ns()) +
               "spec:\n  targetRefs: [{group: '', kind: Service, name: " + Name() +
               Pick({"", ", sectionName: http"}) +
               "}]\n  validation: {hostname: x.example, wellKnownCACertificates: System}\n";
      case 8:
        return Head(Pick({"TCPRoute", "UDPRoute"}), Ns()) + "spec:\n  parentRefs: [" + Parent() +
               "]\n  rules: [{backendRefs: [" + Backend() + "]}]\n";
      case 9:
        return Head("GRPCRoute", Ns()) + "spec:\n  parentRefs: [" + Parent() + ", " + Parent() +
               "]\n  rules: [{matches: [{method: {service: s}}], backendRefs: [" + Backend() + "]}]\n";
      default:
        return Head("HTTPRoute", Ns()) + "spec:\n  parentRefs: [" + Parent() + "]\n  hostnames: [" +
               Pick({"a.example", "'*.example'", "b.example, a.example"}) +
               "]\n  rules: [{matches: [{path: {type: " + Pick({"Exact", "PathPrefix"}) + ", value: /" +
               Name() + "}}], backendRefs: [" + Backend() + "]}]\n";
    }
  }
  int Dice(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(random_); }

 private:
  std::string Pick(std::initializer_list<const char*> texts) {
    return *(texts.begin() + Dice(static_cast<int>(texts.size())));
  }
  std::string Name() { return Pick({"a", "b"}); }
  std::string Ns() { return Pick({"one", "two"}); }
  std::string Head(std::string_view kind, std::string_view ns) {
    const std::string_view version = kind == "ReferenceGrant" ? "v1beta1" : "v1";
    return StrCat("apiVersion: gateway.networking.k8s.io/", version, "\nkind: ", kind,
                  "\nmetadata: {name: ", Name(), ns.empty() ? "" : ", namespace: ", ns,
                  ", creationTimestamp: '2026-01-0", 1 + Dice(2), "T00:00:00Z'}\n");
  }
  std::string Listeners() {
    return StrCat("  listeners:\n  - {name: one, port: 80, protocol: ", Pick({"HTTP", "TCP", "UDP"}),
                  Pick({"", ", hostname: '*.example'", ", hostname: a.example"}),
                  "}\n  - name: two\n    port: ", 80 + Dice(2),
                  "\n    protocol: HTTPS\n    tls: {certificateRefs: ", "[{name: a, namespace: ", Ns(),
                  "}]}\n    allowedRoutes: {namespaces: {from: ",
                  Pick({"All", "Same", "Selector, selector: {matchLabels: {tide: high}}"}), "}}\n");
  }
  std::string Parent() {
    return StrCat(
        "{name: ", Name(), ", namespace: ", Ns(),
        Pick({"", ", sectionName: one", ", port: 80", ", group: '', kind: Service", ", kind: ListenerSet"}),
        "}");
  }
  std::string Backend() { return StrCat("{name: ", Name(), ", namespace: ", Ns(), ", port: 80}"); }

  std::mt19937 random_;
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_TEST_SCRIPT_H_
