#include "config/check_fixture.h"

// What is found in service entries, workload entries and workload groups.
namespace fairlead::config::check {
namespace {

TEST(ServiceEntryCheckTest, ServiceEntryHosts) {
  ExpectFindings("networking.istio.io/v1 ServiceEntry",
                 "{%, ports: [{number: 80, name: http, protocol: HTTP}]}",
                 {
                     {"hosts: [a.b]", {}},
                     {"hosts: ['*']", {"error spec.hosts[0] (invalid-value)"}},
                     {"hosts: ['*.b', '*-a.b']", {"warning spec.hosts[1] (unusual)"}},
                     {"hosts: [a_b]", {"error spec.hosts[0] (invalid-value)"}},
                     {"hosts: [a.b], exportTo: ['~']", {}},
                     {"hosts: [a.b], exportTo: ['~', .]", {"error spec.exportTo (conflict)"}},
                 });
  ExpectFindings(
      "networking.istio.io/v1 ServiceEntry", "%",
      {
          {"{ports: [{number: 80, name: http, protocol: HTTP}]}", {"error spec.hosts (missing-field)"}},
      });
}

TEST(ServiceEntryCheckTest, ServiceEntryPorts) {
  ExpectFindings(
      "networking.istio.io/v1 ServiceEntry", "%",
      {
          {"{hosts: [a.b], ports: [{number: 80, name: http, protocol: HTTP}, {number: 80, name: http, "
           "protocol: HTTP}]}",
           {"error spec.ports (broken-rule)", "error spec.ports[1] (duplicate-item)",
            "error spec.ports[1].name (duplicate-item)", "error spec.ports[1].number (duplicate-item)"}},
          {"{hosts: [a.b], ports: [{number: 0, name: a_b, protocol: NOPE, targetPort: 70000}]}",
           {"error spec.ports[0].name (invalid-value)", "error spec.ports[0].number (invalid-value)",
            "error spec.ports[0].protocol (invalid-value)",
            "error spec.ports[0].targetPort (invalid-value)"}},
          {"{hosts: [a.b, c.d], resolution: STATIC, ports: [{number: 80, name: tcp, protocol: TCP}]}",
           {"error spec.hosts (conflict)"}},
          {"{hosts: [a.b], ports: [{number: 80, name: tcp, protocol: TCP}]}",
           {"warning spec.ports[0] (no-effect)"}},
          {"{hosts: [a.b], addresses: [1.2.3.4], ports: [{number: 80, name: tcp, protocol: TCP}]}", {}},
          {"{hosts: [a.b], addresses: [10.0.0.0/8, x], resolution: DNS, ports: [{number: 80, name: http, "
           "protocol: HTTP}]}",
           {"error spec (broken-rule)", "error spec.addresses (conflict)",
            "error spec.addresses[1] (invalid-value)"}},
      });
}

TEST(ServiceEntryCheckTest, ServiceEntryResolutions) {
  ExpectFindings(
      "networking.istio.io/v1 ServiceEntry", "{%, ports: [{number: 80, name: http, protocol: HTTP}]}",
      {
          {"hosts: [a.b], resolution: NONE, endpoints: [{address: 1.2.3.4}]",
           {"error spec (broken-rule)", "error spec.endpoints (conflict)"}},
          {"hosts: [a.b], resolution: NONE, workloadSelector: {labels: {a: b}}",
           {"warning spec.workloadSelector (no-effect)"}},
          {"hosts: [a.b], resolution: STATIC, endpoints: [{address: 1.2.3.4, ports: {http: 8080}, labels: "
           "{a: b}}]",
           {}},
          {"hosts: [a.b], resolution: STATIC, endpoints: [{address: a.b, ports: {nope: 8080, http: 0}}]",
           {"error spec.endpoints[0].address (invalid-value)",
            "error spec.endpoints[0].ports.http (invalid-value)",
            "error spec.endpoints[0].ports.nope (unknown-port)"}},
          {"hosts: [a.b], resolution: STATIC, endpoints: [{address: 'unix:///a.sock'}]", {}},
          {"hosts: [a.b], resolution: STATIC, endpoints: [{network: net1}, {}]",
           {"error spec.endpoints[1] (broken-rule)", "error spec.endpoints[1].address (missing-field)",
            "warning spec.endpoints[0].address (no-effect)"}},
          {"hosts: ['*.b'], resolution: DNS", {"error spec.hosts[0] (invalid-value)"}},
          {"hosts: ['*.b'], resolution: DNS, endpoints: [{address: a.b}]", {}},
          {"hosts: [a.b], resolution: DNS_ROUND_ROBIN, endpoints: [{address: a.b}, {address: c.d}]",
           {"error spec (broken-rule)", "error spec.endpoints (conflict)"}},
          {"hosts: ['*.b'], resolution: DYNAMIC_DNS, location: MESH_EXTERNAL", {}},
          {"hosts: [a.b], resolution: STATIC, workloadSelector: {labels: {a: b}}, endpoints: [{address: "
           "1.2.3.4}]",
           {"error spec (broken-rule)", "error spec.workloadSelector (conflict)"}},
          {"hosts: [a.b], resolution: STATIC, workloadSelector: {labels: {a: b}}, endpoints: []",
           {"error spec (broken-rule)"}},
          {"hosts: [a.b], resolution: STATIC, workloadSelector: {labels: {a: '*'}}",
           {"error spec.workloadSelector.labels.a (invalid-value)"}},
      });
  ExpectFindings(
      "networking.istio.io/v1 ServiceEntry", "%",
      {
          {"{hosts: [a.b], resolution: STATIC, endpoints: [{address: 'unix://a/', ports: {http: 1}}], ports: "
           "[{number: 80, name: http, protocol: HTTP}, {number: 81, name: http2, protocol: HTTP}]}",
           {"error spec.endpoints[0] (conflict)", "error spec.endpoints[0].address (invalid-value)",
            "error spec.endpoints[0].ports (conflict)"}},
          {"{hosts: [a.b], resolution: DYNAMIC_DNS, addresses: [1.2.3.4], endpoints: [{address: 1.2.3.4}], "
           "ports: [{number: 80, name: tcp, protocol: TCP}]}",
           {"error spec.addresses (conflict)", "error spec.endpoints (conflict)",
            "error spec.hosts[0] (invalid-value)", "error spec.ports[0] (unsupported)"}},
      });
}

TEST(ServiceEntryCheckTest, WorkloadEntries) {
  ExpectFindings("networking.istio.io/v1 WorkloadEntry", "%",
                 {
                     {"{address: 1.2.3.4, ports: {http: 80}, weight: 1}", {}},
                     {"{address: a.b}", {}},
                     {"{}", {"error spec (broken-rule)", "error spec.address (missing-field)"}},
                     {"{network: net1}", {"warning spec.address (no-effect)"}},
                     {"{address: a_b, ports: {a_b: 0}, labels: {'': x}}",
                      {"error spec.address (invalid-value)", "error spec.labels[] (invalid-value)",
                       "error spec.ports (broken-rule)", "error spec.ports.a_b (invalid-value)"}},
                     {"{address: 'unix:///a', ports: {http: 80}}",
                      {"error spec (broken-rule)", "error spec.ports (conflict)"}},
                 });
}

TEST(ServiceEntryCheckTest, WorkloadGroups) {
  ExpectFindings(
      "networking.istio.io/v1 WorkloadGroup", "%",
      {
          {"{template: {serviceAccount: a}, metadata: {labels: {a: b}}, probe: {httpGet: {port: 80, scheme: "
           "HTTP, httpHeaders: [{name: x-a, value: b}]}}}",
           {}},
          {"{metadata: {labels: {a: b}}}", {"error spec.template (missing-field)"}},
          {"{template: {}, metadata: {labels: {'-': b}}}", {"error spec.metadata.labels.- (invalid-value)"}},
      });
  ExpectFindings("networking.istio.io/v1 WorkloadGroup", "{template: {}, probe: %}",
                 {
                     {"{}", {"error spec.probe (missing-field)"}},
                     {"{periodSeconds: -1, initialDelaySeconds: -1, timeoutSeconds: -1, successThreshold: "
                      "-1, failureThreshold: -1, tcpSocket: {port: 0}}",
                      {"error spec.probe.failureThreshold (out-of-range)",
                       "error spec.probe.initialDelaySeconds (out-of-range)",
                       "error spec.probe.periodSeconds (out-of-range)",
                       "error spec.probe.successThreshold (out-of-range)",
                       "error spec.probe.tcpSocket.port (invalid-value)",
                       "error spec.probe.timeoutSeconds (out-of-range)"}},
                     {"{httpGet: {port: 0, scheme: FTP, httpHeaders: [{name: a_b}]}}",
                      {"error spec.probe.httpGet.httpHeaders (invalid-value)",
                       "error spec.probe.httpGet.port (invalid-value)",
                       "error spec.probe.httpGet.scheme (invalid-value)"}},
                     {"{exec: {command: []}}", {"error spec.probe.exec.command (missing-field)"}},
                     {"{grpc: {port: 80}}", {"error spec.probe.grpc (unsupported)"}},
                 });
}

}  // namespace
}  // namespace fairlead::config::check
