#include "config/check_fixture.h"

// What is found in gateways.
namespace fairlead::config::check {
namespace {

TEST(GatewayCheckTest, Gateways) {
  ExpectFindings("networking.istio.io/v1 Gateway",
                 "{servers: [{port: {number: 80, name: http, protocol: HTTP}, %}]}",
                 {
                     {"hosts: ['*']", {}},
                     {"hosts: []", {"error spec.servers[0].hosts (missing-field)"}},
                     {"hosts: [n_s/a.b, ns/*-a.b, '~/a.b']",
                      {"error spec.servers[0].hosts[0] (invalid-value)",
                       "error spec.servers[0].hosts[1] (invalid-value)",
                       "error spec.servers[0].hosts[2] (invalid-value)"}},
                     {"hosts: [a.b], bind: x", {"error spec.servers[0].bind (invalid-value)"}},
                     {"hosts: [a.b], bind: 'unix:///a'", {"error spec.servers[0].port.number (conflict)"}},
                 });
  ExpectFindings("networking.istio.io/v1 Gateway", "%",
                 {
                     {"{}", {"error spec.servers (missing-field)"}},
                 });
  ExpectFindings("networking.istio.io/v1 Gateway", "{servers: [%]}",
                 {
                     {"{hosts: ['*']}", {"error spec.servers[0].port (missing-field)"}},
                     {"{port: {number: 0, name: '', protocol: NOPE, targetPort: 1}, hosts: [a]}",
                      {"error spec.servers[0].hosts[0] (invalid-value)",
                       "error spec.servers[0].port.name (invalid-value)",
                       "error spec.servers[0].port.number (invalid-value)",
                       "error spec.servers[0].port.protocol (invalid-value)",
                       "error spec.servers[0].port.targetPort (invalid-value)"}},
                     {"{port: {number: 80, name: http, protocol: HTTP}, hosts: [a.b]}, {port: {number: 81, "
                      "name: http, protocol: HTTP}, hosts: [a.b]}",
                      {"error spec.servers[1].port (duplicate-item)"}},
                     {"{port: {number: 0, name: http, protocol: HTTP}, hosts: [a.b], bind: 'unix:///a'}", {}},
                 });
}

TEST(GatewayCheckTest, GatewayTls) {
  ExpectFindings("networking.istio.io/v1 Gateway", "{servers: [%]}",
                 {
                     {"{port: {number: 443, name: https, protocol: HTTPS}, hosts: [a.b]}",
                      {"error spec.servers[0].tls (missing-field)"}},
                     {"{port: {number: 25, name: tcp, protocol: TCP}, hosts: [a.b], tls: {mode: SIMPLE, "
                      "credentialName: c}}",
                      {"error spec.servers[0].tls (conflict)"}},
                     {"{port: {number: 443, name: tls, protocol: TLS}, hosts: [a.b], tls: {mode: "
                      "PASSTHROUGH, credentialName: c}}",
                      {"warning spec.servers[0].tls (no-effect)"}},
                 });
  ExpectFindings(
      "networking.istio.io/v1 Gateway", "{servers: [{port: {number: 80, name: http, protocol: HTTP}, %}]}",
      {
          {"hosts: [a.b], tls: {mode: SIMPLE, credentialName: c}", {"error spec.servers[0].tls (conflict)"}},
          {"hosts: [a.b], tls: {httpsRedirect: true}", {}},
      });
  ExpectFindings("networking.istio.io/v1 Gateway",
                 "{servers: [{port: {number: 443, name: https, protocol: HTTPS}, hosts: [a.b], tls: %}]}",
                 {
                     {"{mode: SIMPLE, credentialName: c, httpsRedirect: true}",
                      {"warning spec.servers[0].tls (no-effect)"}},
                     {"{mode: SIMPLE}",
                      {"error spec.servers[0].tls.privateKey (missing-field)",
                       "error spec.servers[0].tls.serverCertificate (missing-field)"}},
                     {"{mode: MUTUAL, serverCertificate: /c, privateKey: /k}",
                      {"error spec.servers[0].tls.caCertificates (missing-field)"}},
                     {"{mode: SIMPLE, credentialName: c, serverCertificate: /c, privateKey: /k}",
                      {"error spec.servers[0].tls (conflict)"}},
                     {"{mode: SIMPLE, credentialName: c, credentialNames: [d]}",
                      {"error spec.servers[0].tls (conflict)"}},
                     {"{mode: ISTIO_MUTUAL, credentialName: c}",
                      {"error spec.servers[0].tls.credentialName (conflict)"}},
                     {"{mode: SIMPLE, credentialName: c, cipherSuites: [AES128-SHA, AES128-SHA, NOPE]}",
                      {"warning spec.servers[0].tls.cipherSuites[1] (no-effect)",
                       "warning spec.servers[0].tls.cipherSuites[2] (no-effect)"}},
                     {"{mode: SIMPLE, credentialName: c, minProtocolVersion: TLSV1_0}",
                      {"warning spec.servers[0].tls.minProtocolVersion (no-effect)"}},
                     {"{mode: SIMPLE, serverCertificate: /c, privateKey: /k, caCrl: /crl}",
                      {"error spec.servers[0].tls.caCrl (conflict)"}},
                 });
}

}  // namespace
}  // namespace fairlead::config::check
