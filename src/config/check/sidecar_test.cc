#include "config/check_fixture.h"

// What is found in sidecars.
namespace fairlead::config::check {
namespace {

TEST(SidecarCheckTest, SidecarEgress) {
  ExpectFindings(
      "networking.istio.io/v1 Sidecar", "{egress: [%]}",
      {
          {"{hosts: [./*, istio-system/*]}", {}},
          {"{hosts: []}", {"error spec.egress[0].hosts (missing-field)"}},
          {"{hosts: [a.b, ns/a, n_s/a.b]}",
           {"error spec.egress[0].hosts[0] (invalid-value)", "error spec.egress[0].hosts[1] (invalid-value)",
            "error spec.egress[0].hosts[2] (invalid-value)"}},
          {"{hosts: ['*/*', ns/a.b]}", {"warning spec.egress[0].hosts (no-effect)"}},
          {"{hosts: [ns/a.b, ns/a.b, ./*]}", {"warning spec.egress[0].hosts[1] (duplicate-item)"}},
          {"{hosts: [./*]}, {hosts: [a/*]}",
           {"error spec.egress[0] (conflict)", "error spec.egress[1] (conflict)"}},
          {"{hosts: [./*]}, {port: {number: 80, name: http, protocol: HTTP}, hosts: [a/*]}",
           {"error spec.egress[0] (conflict)"}},
          {"{port: {number: 80, name: http, protocol: HTTP}, hosts: [./*]}, {port: {number: 80, name: http2, "
           "protocol: HTTP}, hosts: [a/*]}",
           {"error spec.egress[1].port (duplicate-item)"}},
          {"{port: {number: 70000, name: a_b, protocol: NOPE, targetPort: 1}, bind: x, hosts: [./*]}",
           {"error spec.egress[0].bind (invalid-value)", "error spec.egress[0].port.name (invalid-value)",
            "error spec.egress[0].port.number (invalid-value)",
            "error spec.egress[0].port.protocol (invalid-value)",
            "error spec.egress[0].port.targetPort (no-effect)"}},
          {"{port: {number: 0, name: http, protocol: HTTP}, bind: 'unix:///a', captureMode: IPTABLES, hosts: "
           "[./*]}",
           {"error spec.egress[0].captureMode (conflict)"}},
          {"{port: {number: 0, name: http, protocol: HTTP}, bind: 1.2.3.4, hosts: [./*]}",
           {"error spec.egress[0].bind (conflict)"}},
      });
  ExpectFindings("networking.istio.io/v1 Sidecar", "%",
                 {
                     {"{}", {"error spec (missing-field)"}},
                     {"{workloadSelector: {labels: {a: '*'}}, egress: [{hosts: [./*]}]}",
                      {"error spec.workloadSelector.labels.a (invalid-value)"}},
                 });
}

TEST(SidecarCheckTest, SidecarIngress) {
  ExpectFindings(
      "networking.istio.io/v1 Sidecar", "{ingress: [%]}",
      {
          {"{port: {number: 80, name: http, protocol: HTTP}, defaultEndpoint: '127.0.0.1:8080'}", {}},
          {"{defaultEndpoint: '127.0.0.1:8080'}", {"error spec.ingress[0].port (missing-field)"}},
          {"{port: {number: 80, name: http, protocol: HTTP}}, {port: {number: 80, name: h, protocol: HTTP}}",
           {"error spec.ingress[1].port.number (duplicate-item)"}},
          {"{port: {number: 0, name: http, protocol: HTTP}, bind: x, defaultEndpoint: '10.0.0.1:0'}",
           {"error spec.ingress[0].bind (invalid-value)",
            "error spec.ingress[0].defaultEndpoint (invalid-value)",
            "error spec.ingress[0].port.number (invalid-value)"}},
          {"{port: {number: 80, name: http, protocol: HTTP}, defaultEndpoint: 'unix:///a'}", {}},
          {"{port: {number: 80, name: http, protocol: HTTP}, defaultEndpoint: 'unix://a/'}",
           {"error spec.ingress[0].defaultEndpoint (invalid-value)"}},
          {"{port: {number: 80, name: http, protocol: HTTP}, defaultEndpoint: '127.0.0.1:x'}",
           {"error spec.ingress[0].defaultEndpoint (invalid-value)"}},
          {"{port: {number: 443, name: https, protocol: HTTPS}, tls: {mode: SIMPLE, serverCertificate: /c, "
           "privateKey: /k}}",
           {}},
          {"{port: {number: 443, name: https, protocol: HTTPS}, tls: {mode: SIMPLE, credentialName: c}}",
           {"error spec.ingress[0].tls.credentialName (unsupported)"}},
          {"{port: {number: 80, name: http, protocol: HTTP}, tls: {mode: SIMPLE, serverCertificate: /c, "
           "privateKey: /k}}",
           {"error spec.ingress[0].tls (conflict)"}},
          {"{port: {number: 25, name: tcp, protocol: TCP}, connectionPool: {http: {maxRetries: 1}}}",
           {"warning spec.ingress[0].connectionPool.http (no-effect)"}},
      });
}

TEST(SidecarCheckTest, SidecarOutbound) {
  ExpectFindings("networking.istio.io/v1 Sidecar", "{outboundTrafficPolicy: %}",
                 {
                     {"{mode: ALLOW_ANY, egressProxy: {host: a.b, port: {number: 80}}}", {}},
                     {"{mode: REGISTRY_ONLY, egressProxy: {host: a.b, port: {number: 80}}}",
                      {"error spec.outboundTrafficPolicy.egressProxy (conflict)"}},
                     {"{mode: ALLOW_ANY, egressProxy: {host: '*.b'}}",
                      {"error spec.outboundTrafficPolicy.egressProxy.host (invalid-value)",
                       "error spec.outboundTrafficPolicy.egressProxy.port (missing-field)"}},
                 });
  ExpectFindings("networking.istio.io/v1 Sidecar", "%",
                 {
                     {"{inboundConnectionPool: {}}", {"error spec.inboundConnectionPool (missing-field)"}},
                 });
}

}  // namespace
}  // namespace fairlead::config::check
