#include "config/check_fixture.h"

// What is found in destination rules.
namespace fairlead::config::check {
namespace {

TEST(DestinationRuleCheckTest, Policies) {
  ExpectFindings("networking.istio.io/v1 DestinationRule", "%",
                 {
                     {"{host: a.b, trafficPolicy: {loadBalancer: {simple: LEAST_REQUEST}}}", {}},
                 });
  ExpectFindings("networking.istio.io/v1 DestinationRule", "{host: a.b, trafficPolicy: %}",
                 {
                     {"{}", {"error spec.trafficPolicy (missing-field)"}},
                     {"{portLevelSettings: []}", {"error spec.trafficPolicy (missing-field)"}},
                     {"{portLevelSettings: [{port: {number: 80}}]}",
                      {"error spec.trafficPolicy.portLevelSettings[0] (missing-field)"}},
                     {"{portLevelSettings: [{tls: {mode: SIMPLE}}]}",
                      {"error spec.trafficPolicy.portLevelSettings[0].port (missing-field)"}},
                     {"{portLevelSettings: [{port: {number: 80}, tls: {mode: SIMPLE}}]}", {}},
                     {"{tunnel: {targetHost: b, targetPort: 80}, proxyProtocol: {version: V2}}",
                      {"error spec.trafficPolicy (conflict)"}},
                     {"{tunnel: {protocol: GET, targetHost: a_b, targetPort: 0}}",
                      {"error spec.trafficPolicy.tunnel.protocol (invalid-value)",
                       "error spec.trafficPolicy.tunnel.targetHost (invalid-value)",
                       "error spec.trafficPolicy.tunnel.targetPort (invalid-value)"}},
                     {"{tunnel: {protocol: POST, targetHost: 1.2.3.4, targetPort: 80}}", {}},
                 });
}

TEST(DestinationRuleCheckTest, Hosts) {
  ExpectFindings("networking.istio.io/v1 DestinationRule", "%",
                 {
                     {"{host: ''}", {"error spec.host (invalid-value)"}},
                     {"{}", {"error spec.host (invalid-value)"}},
                     {"{host: '*.b'}", {}},
                     {"{host: 'a.*'}", {"error spec.host (invalid-value)"}},
                     {"{host: a.b, exportTo: ['~']}", {"error spec.exportTo[0] (invalid-value)"}},
                     {"{host: a.b, workloadSelector: {matchLabels: {a: b}}}", {}},
                     {"{host: a.b, exportTo: [b], workloadSelector: {matchLabels: {a: b}}}",
                      {"error spec.exportTo (conflict)"}},
                     {"{host: a.b, exportTo: [.], workloadSelector: {matchLabels: {}}}",
                      {"warning spec.workloadSelector.matchLabels (selects-all)"}},
                 });
}

TEST(DestinationRuleCheckTest, Subsets) {
  ExpectFindings(
      "networking.istio.io/v1 DestinationRule", "{host: a.b, subsets: [%]}",
      {
          {"{name: v1, labels: {v: '1'}}, {name: v2, trafficPolicy: {tls: {mode: DISABLE}}}", {}},
          {"{name: ''}", {"error spec.subsets[0].name (invalid-value)"}},
          {"{name: v1}, {name: v1, labels: {a: b}}", {"error spec.subsets[1].name (duplicate-item)"}},
          {"{name: a.b, labels: {'-': x}}",
           {"error spec.subsets[0].labels.- (invalid-value)", "error spec.subsets[0].name (invalid-value)"}},
          {"{name: v1, trafficPolicy: {}}", {"error spec.subsets[0].trafficPolicy (missing-field)"}},
      });
}

TEST(DestinationRuleCheckTest, Balancers) {
  ExpectFindings(
      "networking.istio.io/v1 DestinationRule", "{host: a.b, trafficPolicy: {loadBalancer: %}}",
      {
          {"{consistentHash: {httpCookie: {name: c, ttl: 0s}}}", {}},
          {"{consistentHash: {httpCookie: {name: '', ttl: 1s}}}",
           {"error spec.trafficPolicy.loadBalancer.consistentHash.httpCookie.name (missing-field)"}},
          {"{consistentHash: {useSourceIp: true, minimumRingSize: 10}}",
           {"warning spec.trafficPolicy.loadBalancer.consistentHash.minimumRingSize (deprecated)"}},
          {"{consistentHash: {useSourceIp: true, minimumRingSize: 10, maglev: {tableSize: 5}}}",
           {"error spec.trafficPolicy.loadBalancer.consistentHash.minimumRingSize (conflict)",
            "warning spec.trafficPolicy.loadBalancer.consistentHash.minimumRingSize (deprecated)"}},
          {"{consistentHash: {useSourceIp: true, maglev: {tableSize: 65537}}}", {}},
          {"{consistentHash: {useSourceIp: true, maglev: {tableSize: 65536}}}",
           {"error spec.trafficPolicy.loadBalancer.consistentHash.maglev.tableSize (invalid-value)"}},
          {"{consistentHash: {useSourceIp: true, httpHeaderName: x}}",
           {"error spec.trafficPolicy.loadBalancer.consistentHash.httpHeaderName (conflicting-fields)"}},
          {"{simple: RANDOM, consistentHash: {useSourceIp: true}}",
           {"error spec.trafficPolicy.loadBalancer.consistentHash (conflicting-fields)"}},
          {"{warmup: {duration: 10s, minimumPercent: 10, aggression: 1.5}}", {}},
          {"{warmup: {minimumPercent: 101, aggression: 0}}",
           {"error spec.trafficPolicy.loadBalancer.warmup.aggression (out-of-range)",
            "error spec.trafficPolicy.loadBalancer.warmup.duration (missing-field)",
            "error spec.trafficPolicy.loadBalancer.warmup.minimumPercent (out-of-range)"}},
      });
}

TEST(DestinationRuleCheckTest, Localities) {
  ExpectFindings(
      "networking.istio.io/v1 DestinationRule",
      "{host: a.b, trafficPolicy: {outlierDetection: {}, loadBalancer: %}}",
      {
          {"{localityLbSetting: {failover: [{from: a, to: b}]}}", {}},
          {"{localityLbSetting: {failover: [{from: a, to: a}, {from: a/b, to: c}, {from: '*', to: c}]}}",
           {"error spec.trafficPolicy.loadBalancer.localityLbSetting.failover[0] (conflict)",
            "error spec.trafficPolicy.loadBalancer.localityLbSetting.failover[1] (invalid-value)",
            "error spec.trafficPolicy.loadBalancer.localityLbSetting.failover[2] (invalid-value)"}},
          {"{localityLbSetting: {distribute: [{from: a, to: {b: 100}}], failover: [{from: a, to: b}]}}",
           {"error spec.trafficPolicy.loadBalancer.localityLbSetting (conflict)"}},
          {"{localityLbSetting: {distribute: [{from: a/*, to: {b: 60, c/d: 40}}]}}", {}},
          {"{localityLbSetting: {distribute: [{from: a, to: {b: 60}}]}}",
           {"error spec.trafficPolicy.loadBalancer.localityLbSetting.distribute[0].to (out-of-range)"}},
          {"{localityLbSetting: {distribute: [{from: a, to: {b: 0, c: 100}}]}}",
           {"error spec.trafficPolicy.loadBalancer.localityLbSetting.distribute[0].to.b (out-of-range)"}},
          {"{localityLbSetting: {distribute: [{from: a/*/b, to: {b: 100}}]}}",
           {"error spec.trafficPolicy.loadBalancer.localityLbSetting.distribute (invalid-value)"}},
          {"{localityLbSetting: {distribute: [{from: a, to: {b: 50, b/c: 50}}]}}",
           {"error spec.trafficPolicy.loadBalancer.localityLbSetting.distribute[0].to (conflict)"}},
          {"{localityLbSetting: {distribute: [{from: a//b, to: {b: 100}}]}}",
           {"error spec.trafficPolicy.loadBalancer.localityLbSetting.distribute (invalid-value)"}},
          {"{localityLbSetting: {failover: [{from: a, to: b}], failoverPriority: "
           "[topology.kubernetes.io/region]}}",
           {"error spec.trafficPolicy.loadBalancer.localityLbSetting.failoverPriority (conflict)"}},
          {"{localityLbSetting: {}, zoneAwareLbSetting: {}}",
           {"error spec.trafficPolicy.loadBalancer (conflict)"}},
          {"{zoneAwareLbSetting: {failoverPriority: [topology.kubernetes.io/zone]}}",
           {"error spec.trafficPolicy.loadBalancer.zoneAwareLbSetting.failoverPriority[0] (unsupported)"}},
          {"{zoneAwareLbSetting: {failover: [{from: a, to: a/b}]}}",
           {"error spec.trafficPolicy.loadBalancer.zoneAwareLbSetting.failover[0] (invalid-value)"}},
      });
  ExpectFindings(
      "networking.istio.io/v1 DestinationRule", "%",
      {
          {"{host: a.b, trafficPolicy: {loadBalancer: {localityLbSetting: {failover: [{from: a, to: b}]}}}}",
           {"warning spec.trafficPolicy.loadBalancer.localityLbSetting (no-effect)"}},
      });
}

TEST(DestinationRuleCheckTest, Pools) {
  ExpectFindings(
      "networking.istio.io/v1 DestinationRule", "{host: a.b, trafficPolicy: {connectionPool: %}}",
      {
          {"{tcp: {maxConnections: 1, connectTimeout: 1s, tcpKeepalive: {time: 1s}}, http: {idleTimeout: "
           "1s}}",
           {}},
          {"{}", {"error spec.trafficPolicy.connectionPool (missing-field)"}},
          {"{tcp: {maxConnections: -1, connectTimeout: 0s}}",
           {"error spec.trafficPolicy.connectionPool.tcp.connectTimeout (invalid-value)",
            "error spec.trafficPolicy.connectionPool.tcp.maxConnections (out-of-range)"}},
          {"{tcp: {idleTimeout: 0s}}", {}},
          {"{http: {maxRetries: -1, http1MaxPendingRequests: -1, http2MaxRequests: -1, "
           "maxRequestsPerConnection: -1, maxConcurrentStreams: -1}}",
           {"error spec.trafficPolicy.connectionPool.http.http1MaxPendingRequests (out-of-range)",
            "error spec.trafficPolicy.connectionPool.http.http2MaxRequests (out-of-range)",
            "error spec.trafficPolicy.connectionPool.http.maxConcurrentStreams (out-of-range)",
            "error spec.trafficPolicy.connectionPool.http.maxRequestsPerConnection (out-of-range)",
            "error spec.trafficPolicy.connectionPool.http.maxRetries (out-of-range)"}},
          {"{http: {h2UpgradePolicy: UPGRADE, useClientProtocol: true}}",
           {"error spec.trafficPolicy.connectionPool.http.useClientProtocol (conflict)"}},
          {"{http: {http2KeepAlive: {interval: 1s}}}",
           {"error spec.trafficPolicy.connectionPool.http.http2KeepAlive.timeout (missing-field)"}},
          {"{http: {h2UpgradePolicy: NOPE}}",
           {"error spec.trafficPolicy.connectionPool.http.h2UpgradePolicy (unknown-value)"}},
      });
}

TEST(DestinationRuleCheckTest, Outliers) {
  ExpectFindings(
      "networking.istio.io/v1 DestinationRule", "{host: a.b, trafficPolicy: {outlierDetection: %}}",
      {
          {"{consecutive5xxErrors: 3, interval: 5s, baseEjectionTime: 30s, maxEjectionPercent: 50}", {}},
          {"{interval: 0s, baseEjectionTime: 0.5ms, maxEjectionPercent: 101, minHealthPercent: -1}",
           {"error spec.trafficPolicy.outlierDetection.baseEjectionTime (invalid-value)",
            "error spec.trafficPolicy.outlierDetection.interval (invalid-value)",
            "error spec.trafficPolicy.outlierDetection.maxEjectionPercent (out-of-range)",
            "error spec.trafficPolicy.outlierDetection.minHealthPercent (out-of-range)"}},
          {"{consecutiveErrors: 5}",
           {"warning spec.trafficPolicy.outlierDetection.consecutiveErrors (deprecated)"}},
          {"{consecutiveLocalOriginFailures: 5}",
           {"error spec.trafficPolicy.outlierDetection.consecutiveLocalOriginFailures (conflict)"}},
          {"{consecutiveLocalOriginFailures: 5, splitExternalLocalOriginErrors: true}", {}},
      });
}

TEST(DestinationRuleCheckTest, Tls) {
  ExpectFindings("networking.istio.io/v1 DestinationRule", "{host: a.b, trafficPolicy: {tls: %}}",
                 {
                     {"{mode: MUTUAL, clientCertificate: /c, privateKey: /k}", {}},
                     {"{mode: MUTUAL}",
                      {"error spec.trafficPolicy.tls.clientCertificate (missing-field)",
                       "error spec.trafficPolicy.tls.privateKey (missing-field)"}},
                     {"{mode: SIMPLE, credentialName: c, caCertificates: /ca}",
                      {"error spec.trafficPolicy.tls.credentialName (conflict)"}},
                     {"{mode: SIMPLE, insecureSkipVerify: true, caCertificates: /ca}",
                      {"error spec.trafficPolicy.tls.insecureSkipVerify (conflict)"}},
                     {"{mode: SIMPLE, insecureSkipVerify: true, subjectAltNames: []}", {}},
                     {"{mode: SIMPLE, insecureSkipVerify: true, subjectAltNames: [a.b]}",
                      {"error spec.trafficPolicy.tls.insecureSkipVerify (conflict)"}},
                     {"{mode: MUTUAL, credentialName: c, insecureSkipVerify: true}", {}},
                     {"{mode: SIMPLE, credentialName: 'configmap://default/c'}", {}},
                     {"{mode: SIMPLE, credentialName: 'configmap://other/c'}",
                      {"error spec.trafficPolicy.tls.credentialName (invalid-value)"}},
                     {"{mode: SIMPLE, credentialName: 'configmap://c'}",
                      {"error spec.trafficPolicy.tls.credentialName (invalid-value)"}},
                 });
}

}  // namespace
}  // namespace fairlead::config::check
