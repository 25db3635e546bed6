#include "config/check_fixture.h"

// What an API server finds in objects of the Gateway API by the rules of its definitions.
namespace fairlead::config::check {
namespace {

TEST(GatewayApiCheckTest, ParentsAndHosts) {
  ExpectFindings(
      "gateway.networking.k8s.io/v1 HTTPRoute", "{%}",
      {
          {"parentRefs: [{name: g}], hostnames: [a.b, '*.c']", {}},
          {"hostnames: [a_b]", {"error spec.hostnames[0] (invalid-value)"}},
          {"parentRefs: [{name: g, port: 1}, {name: g, port: 2}]", {}},
          {"parentRefs: [{name: g}, {name: g}]", {"error spec.parentRefs (broken-rule)"}},
          {"parentRefs: [{name: g, sectionName: a}, {name: g}]", {"error spec.parentRefs (broken-rule)"}},
      });
  ExpectFindings("gateway.networking.k8s.io/v1 TLSRoute", "{%, rules: [{backendRefs: [{name: s, port: 1}]}]}",
                 {
                     {"hostnames: [a.b]", {}},
                     {"hostnames: [1.2.3.4]", {"error spec.hostnames (broken-rule)"}},
                 });
}

TEST(GatewayApiCheckTest, Matches) {
  ExpectFindings(
      "gateway.networking.k8s.io/v1 HTTPRoute", "{rules: [{matches: [%]}]}",
      {
          {"{path: {type: PathPrefix, value: /a}}, {headers: [{name: x, value: b}]}", {}},
          {"{path: {value: a}}", {"error spec.rules[0].matches[0].path (broken-rule)"}},
          {"{path: {value: /a//b}}", {"error spec.rules[0].matches[0].path (broken-rule)"}},
          {"{path: {type: Exact, value: /a/../b}}", {"error spec.rules[0].matches[0].path (broken-rule)"}},
          {"{path: {type: RegularExpression, value: a//b}}", {}},
          {"{headers: [{name: x, value: a}, {name: x, value: b}]}",
           {"error spec.rules[0].matches[0].headers[1] (duplicate-item)"}},
      });
  ExpectFindings("gateway.networking.k8s.io/v1 GRPCRoute", "{rules: [{matches: [{method: %}]}]}",
                 {
                     {"{service: a.b, method: C}", {}},
                     {"{type: Exact}", {"error spec.rules[0].matches[0].method (broken-rule)"}},
                     {"{service: a/b}", {"error spec.rules[0].matches[0].method (broken-rule)"}},
                 });
}

TEST(GatewayApiCheckTest, Rules) {
  ExpectFindings(
      "gateway.networking.k8s.io/v1 HTTPRoute", "{rules: [%]}",
      {
          {"{backendRefs: [{name: s, port: 80}], timeouts: {request: 2s, backendRequest: 1s}}", {}},
          {"{backendRefs: [{name: s}]}", {"error spec.rules[0].backendRefs[0] (broken-rule)"}},
          {"{timeouts: {request: 1s, backendRequest: 2s}}", {"error spec.rules[0].timeouts (broken-rule)"}},
          {"{timeouts: {request: 1x}}", {"error spec.rules[0].timeouts.request (invalid-value)"}},
          {"{name: a}, {name: a}", {"error spec.rules (broken-rule)"}},
          {"{filters: [{type: RequestRedirect}]}", {"error spec.rules[0].filters[0] (broken-rule)"}},
          {"{filters: [{type: RequestRedirect, requestRedirect: {statusCode: 301}}]}", {}},
          {"{filters: [{type: RequestRedirect, requestRedirect: {}}], backendRefs: [{name: s, port: 80}]}",
           {"error spec.rules[0] (broken-rule)"}},
          {"{filters: [{type: URLRewrite, urlRewrite: {hostname: a.b}}, {type: URLRewrite, urlRewrite: "
           "{hostname: a.c}}]}",
           {"error spec.rules[0].filters (broken-rule)"}},
          {"{filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: "
           "/x}}}], "
           "matches: [{path: {type: Exact, value: /a}}]}",
           {"error spec.rules[0] (broken-rule)"}},
      });
}

TEST(GatewayApiCheckTest, Listeners) {
  ExpectFindings(
      "gateway.networking.k8s.io/v1 Gateway", "{gatewayClassName: istio, listeners: [%]}",
      {
          {"{name: a, port: 80, protocol: HTTP}, {name: b, port: 80, protocol: HTTP, hostname: a.b}", {}},
          {"{name: a, port: 80, protocol: HTTP}, {name: a, port: 81, protocol: HTTP}",
           {"error spec.listeners (broken-rule)", "error spec.listeners[1] (duplicate-item)"}},
          {"{name: a, port: 80, protocol: HTTP}, {name: b, port: 80, protocol: HTTP}",
           {"error spec.listeners (broken-rule)"}},
          {"{name: a, port: 80, protocol: HTTP, tls: {certificateRefs: [{name: c}]}}",
           {"error spec.listeners (broken-rule)"}},
          {"{name: a, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: c}]}}", {}},
          {"{name: a, port: 443, protocol: HTTPS, tls: {mode: Terminate}}",
           {"error spec.listeners[0].tls (broken-rule)"}},
          {"{name: a, port: 443, protocol: HTTPS, tls: {mode: Passthrough}}",
           {"error spec.listeners (broken-rule)"}},
          {"{name: a, port: 25, protocol: TCP, hostname: a.b}", {"error spec.listeners (broken-rule)"}},
          {"{name: a, port: 80, protocol: 'x c'}", {"error spec.listeners[0].protocol (invalid-value)"}},
      });
}

}  // namespace
}  // namespace fairlead::config::check
