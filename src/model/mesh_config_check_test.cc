#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "model/mesh_config.h"

// What Istio refuses in the mesh's own files, and what it warns about.
namespace fairlead::model {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using Findings = std::vector<std::string>;

struct Row {
  std::string_view text;
  Findings findings;  // "severity path (code)", sorted
};

template <typename Result>
Findings FindingsOf(const Result& result) {
  Findings findings;
  for (const config::Diagnostic& one : result.diagnostics) {
    const bool error = one.severity == config::Severity::kError;
    findings.push_back(StrCat(error ? "error " : "warning ", one.path, " (", one.code, ")"));
  }
  std::sort(findings.begin(), findings.end());
  return findings;
}

bool HasError(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const auto& one) { return one.starts_with("error"); });
}

void ExpectMesh(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const MeshConfigResult result = ParseMeshConfig(row.text, "m");
    EXPECT_THAT(FindingsOf(result), ElementsAreArray(row.findings)) << row.text;
    EXPECT_EQ(result.mesh == nullptr, HasError(row.findings)) << row.text;
  }
}

TEST(MeshConfigCheckTest, PortsTimeoutsAndNames) {
  ExpectMesh({
      {"{}", {}},
      {"{proxyListenPort: 0}", {"error proxyListenPort (invalid-value)"}},
      {"{proxyListenPort: 65536}", {"error proxyListenPort (invalid-value)"}},
      {"{connectTimeout: 1h}", {}},
      {"{connectTimeout: 3601s}", {"error connectTimeout (out-of-range)"}},
      {"{connectTimeout: 0s}", {"error connectTimeout (invalid-value)"}},
      {"{protocolDetectionTimeout: 0s}", {}},
      {"{protocolDetectionTimeout: 1500us}", {"error protocolDetectionTimeout (invalid-value)"}},
      {"{trustDomain: a.b, trustDomainAliases: [c]}", {}},
      {"{trustDomain: ''}", {"error trustDomain (invalid-value)"}},
      {"{trustDomain: a_b}", {"error trustDomain (invalid-value)"}},
      {"{trustDomainAliases: [a_b]}", {"error trustDomainAliases (invalid-value)"}},
      {"{serviceSettings: [{hosts: ['*.a', b]}]}", {}},
      {"{serviceSettings: [{hosts: [a]}, {hosts: ['a.*']}]}",
       {"error serviceSettings[1].hosts (invalid-value)"}},
  });
}

TEST(MeshConfigCheckTest, DefaultConfig) {
  ExpectMesh({
      {"{defaultConfig: {discoveryAddress: 'a.b:15012', statsdUdpAddress: '1.2.3.4:8125'}}", {}},
      {"{defaultConfig: {discoveryAddress: ''}}", {"error defaultConfig.discoveryAddress (missing-field)"}},
      {"{defaultConfig: {discoveryAddress: a.b}}", {"error defaultConfig.discoveryAddress (invalid-value)"}},
      {"{defaultConfig: {configPath: '', binaryPath: ''}}",
       {"error defaultConfig.binaryPath (missing-field)", "error defaultConfig.configPath (missing-field)"}},
      {"{defaultConfig: {serviceCluster: ''}}", {"error defaultConfig.serviceCluster (missing-field)"}},
      {"{defaultConfig: {tracingServiceName: CANONICAL_NAME_ONLY}}", {}},
      {"{defaultConfig: {drainDuration: 1500ms}}", {"error defaultConfig.drainDuration (invalid-value)"}},
      {"{defaultConfig: {proxyAdminPort: 0, statusPort: 70000}}",
       {"error defaultConfig.proxyAdminPort (invalid-value)",
        "error defaultConfig.statusPort (invalid-value)"}},
      {"{defaultConfig: {tracing: {zipkin: {address: '$(HOST_IP):9411'}}}}", {}},
      {"{defaultConfig: {tracing: {zipkin: {address: a}}}}",
       {"error defaultConfig.tracing.zipkin.address (invalid-value)"}},
      {"{defaultConfig: {tracing: {lightstep: {address: 'a:1'}}}}",
       {"error defaultConfig.tracing.lightstep.accessToken (missing-field)"}},
      {"{defaultConfig: {tracing: {zipkin: {address: 'a:1'}, tlsSettings: {mode: MUTUAL}}}}",
       {"error defaultConfig.tracing.tlsSettings.clientCertificate (missing-field)",
        "error defaultConfig.tracing.tlsSettings.privateKey (missing-field)"}},
      {"{defaultConfig: {envoyMetricsService: {address: a}, envoyAccessLogService: {address: b}}}",
       {"error defaultConfig.envoyAccessLogService (invalid-value)",
        "error defaultConfig.envoyMetricsService (invalid-value)"}},
      {"{defaultConfig: {proxyMetadata: {ISTIO_META_DNS_AUTO_ALLOCATE: 'true'}}}",
       {"warning defaultConfig.proxyMetadata.ISTIO_META_DNS_AUTO_ALLOCATE (deprecated)"}},
      {"{defaultConfig: {privateKeyProvider: {cryptomb: {pollDelay: 10ms}}}}", {}},
      {"{defaultConfig: {privateKeyProvider: {qat: {pollDelay: 0s}}}}",
       {"error defaultConfig.privateKeyProvider.qat.pollDelay (missing-field)"}},
      {"{defaultConfig: {privateKeyProvider: {}}}",
       {"error defaultConfig.privateKeyProvider (missing-field)"}},
  });
}

TEST(MeshConfigCheckTest, ConnectionSettings) {
  ExpectMesh({
      {"{defaultConfig: {connectionSettings: {httpMaxConcurrentStreams: 100, httpIdleTimeout: 0s}}}", {}},
      {"{defaultConfig: {connectionSettings: {httpMaxConcurrentStreams: 0}}}",
       {"error defaultConfig.connectionSettings.httpMaxConcurrentStreams (out-of-range)"}},
      {"{defaultConfig: {connectionSettings: {http2InitialStreamWindowSize: 65534}}}",
       {"error defaultConfig.connectionSettings.http2InitialStreamWindowSize (out-of-range)"}},
      {"{defaultConfig: {connectionSettings: {httpIdleTimeout: -1s}}}",
       {"error defaultConfig.connectionSettings.httpIdleTimeout (out-of-range)"}},
  });
}

TEST(MeshConfigCheckTest, TlsSettings) {
  ExpectMesh({
      {"{tlsDefaults: {ecdhCurves: [P-256, X25519]}}", {}},
      {"{tlsDefaults: {ecdhCurves: [nope, P-256, P-256]}}",
       {"warning tlsDefaults.ecdhCurves (no-effect)", "warning tlsDefaults.ecdhCurves (no-effect)"}},
      {"{meshMTLS: {ecdhCurves: [P-256]}}", {"error meshMTLS.ecdhCurves (unsupported)"}},
      {"{meshMTLS: {ecdhCurves: []}}", {}},
  });
}

TEST(MeshConfigCheckTest, TrafficSettings) {
  ExpectMesh({
      {"{localityLbSetting: {distribute: [{from: a, to: {b: 99}}]}}",
       {"error localityLbSetting.distribute[0].to (out-of-range)"}},
      {"{localityLbSetting: {}, zoneAwareLbSetting: {}}", {}},
      {"{zoneAwareLbSetting: {failover: [{from: a, to: a}]}}",
       {"error zoneAwareLbSetting.failover[0] (conflict)"}},
      {"{defaultTrafficPolicy: {connectionPool: {tcp: {maxConnections: 1}}, outlierDetection: {interval: "
       "1s}}}",
       {}},
      {"{defaultTrafficPolicy: {connectionPool: {}}}",
       {"error defaultTrafficPolicy.connectionPool (missing-field)"}},
      {"{defaultTrafficPolicy: {outlierDetection: {maxEjectionPercent: 101}}}",
       {"error defaultTrafficPolicy.outlierDetection.maxEjectionPercent (out-of-range)"}},
  });
}

TEST(MeshConfigCheckTest, InboundRetries) {
  ExpectMesh({
      {"{defaultInboundHttpRetryPolicy: {attempts: 2, retryOn: 'reset,503', backoff: 1s}}", {}},
      {"{defaultInboundHttpRetryPolicy: {attempts: 0}}", {}},
      {"{defaultInboundHttpRetryPolicy: {attempts: 0, backoff: 1s}}",
       {"error defaultInboundHttpRetryPolicy.backoff (conflict)"}},
      {"{defaultInboundHttpRetryPolicy: {attempts: 1, retryOn: nope}}",
       {"error defaultInboundHttpRetryPolicy.retryOn (invalid-value)"}},
      {"{defaultInboundHttpRetryPolicy: {attempts: 1, perTryTimeout: 1s, retryRemoteLocalities: true, "
       "retryIgnorePreviousHosts: false}}",
       {"warning defaultInboundHttpRetryPolicy.perTryTimeout (no-effect)",
        "warning defaultInboundHttpRetryPolicy.retryIgnorePreviousHosts (no-effect)",
        "warning defaultInboundHttpRetryPolicy.retryRemoteLocalities (no-effect)"}},
  });
}

// Istio takes the settings though providers are wrong.
TEST(MeshConfigCheckTest, Providers) {
  const auto provider = [](std::string_view settings) {
    const MeshConfigResult result =
        ParseMeshConfig(StrCat("extensionProviders: [{name: p, ", settings, "}]"), "m");
    EXPECT_NE(result.mesh, nullptr);
    return FindingsOf(result);
  };
  EXPECT_THAT(provider("zipkin: {service: a.b, port: 9411}"), IsEmpty());
  EXPECT_THAT(provider("zipkin: {service: ns/a.b, port: 9411}"), IsEmpty());
  EXPECT_THAT(provider("zipkin: {port: 0}"),
              ElementsAre("warning extensionProviders[0].zipkin.port (invalid-provider)",
                          "warning extensionProviders[0].zipkin.service (invalid-provider)"));
  for (std::string_view kind : {"datadog", "opencensus", "skywalking", "opentelemetry", "envoyHttpAls",
                                "envoyTcpAls", "envoyOtelAls", "envoyExtAuthzHttp", "envoyExtAuthzGrpc"}) {
    EXPECT_THAT(provider(StrCat(kind, ": {service: a_b, port: 80}")),
                ElementsAre(StrCat("warning extensionProviders[0].", kind, ".service (invalid-provider)")));
  }
  EXPECT_THAT(provider("lightstep: {service: a, port: 80}"),
              ElementsAre("warning extensionProviders[0].lightstep.accessToken (invalid-provider)"));
  EXPECT_THAT(provider("opentelemetry: {service: a, port: 80, http: {path: /}, grpc: {}}"),
              ElementsAre("warning extensionProviders[0].opentelemetry (invalid-provider)"));
  EXPECT_THAT(provider("envoyExtAuthzHttp: {service: a, port: 80, statusOnError: '503', pathPrefix: /a}"),
              IsEmpty());
  EXPECT_THAT(
      provider("envoyExtAuthzHttp: {service: a, port: 80, statusOnError: '999', pathPrefix: a}"),
      ElementsAre("warning extensionProviders[0].envoyExtAuthzHttp.pathPrefix (invalid-provider)",
                  "warning extensionProviders[0].envoyExtAuthzHttp.statusOnError (invalid-provider)"));
  EXPECT_THAT(provider("prometheus: {}"), IsEmpty());
  EXPECT_THAT(provider("sds: {name: a, service: a, port: 80}"),
              ElementsAre("warning extensionProviders[0] (invalid-provider)"));
  EXPECT_THAT(provider("prometheus: {}}, {name: p, stackdriver: {}}, {name: '', stackdriver: {}"),
              ElementsAre("warning extensionProviders[1].name (invalid-provider)",
                          "warning extensionProviders[2].name (invalid-provider)"));
}

TEST(MeshNetworksCheckTest, EndpointsAndGateways) {
  const std::vector<Row> rows = {
      {"{endpoints: [{fromRegistry: Kubernetes}, {fromCidr: 10.0.0.0/8}], gateways: [{address: 1.2.3.4, "
       "port: 15443}, "
       "{address: a.b, port: 1}, {registryServiceName: a.b.svc, port: 2}]}",
       {}},
      {"{endpoints: [{fromCidr: 10.0.0.0/33}]}", {"error networks.n.endpoints[0].fromCidr (invalid-value)"}},
      {"{endpoints: [{fromRegistry: a_b}]}", {"error networks.n.endpoints[0].fromRegistry (invalid-value)"}},
      {"{gateways: [{address: a_b, port: 1}]}", {"error networks.n.gateways[0].address (invalid-value)"}},
      {"{gateways: [{registryServiceName: '*.b', port: 1}]}",
       {"error networks.n.gateways[0].registryServiceName (invalid-value)"}},
      {"{gateways: [{address: 1.2.3.4}]}", {"error networks.n.gateways[0].port (invalid-value)"}},
  };
  for (const Row& row : rows) {
    const MeshNetworksResult result = ParseMeshNetworks(StrCat("networks: {'n': ", row.text, "}"), "m");
    EXPECT_THAT(FindingsOf(result), ElementsAreArray(row.findings)) << row.text;
    EXPECT_EQ(result.networks == nullptr, HasError(row.findings)) << row.text;
  }
}

}  // namespace
}  // namespace fairlead::model
