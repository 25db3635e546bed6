#include "config/check_fixture.h"

// What is found in Envoy filters.
namespace fairlead::config::check {
namespace {

TEST(EnvoyFilterCheckTest, EnvoyFilters) {
  ExpectFindings("networking.istio.io/v1alpha3 EnvoyFilter", "%",
                 {
                     {"{}", {"warning spec (unstable)"}},
                     {"{workloadSelector: {labels: {a: '*'}}, configPatches: []}",
                      {"error spec.workloadSelector.labels.a (invalid-value)", "warning spec (unstable)"}},
                     {"{workloadSelector: {labels: {a: b}}, targetRefs: [{kind: Service, name: s}]}",
                      {"error spec (broken-rule)", "warning spec (unstable)"}},
                 });
  ExpectFindings(
      "networking.istio.io/v1alpha3 EnvoyFilter", "{configPatches: [{applyTo: CLUSTER, %}]}",
      {
          {"patch: {operation: MERGE, value: {connect_timeout: 1s}}", {"warning spec (unstable)"}},
          {"patch: {operation: ADD}",
           {"error spec.configPatches[0].patch.value (missing-field)", "warning spec (unstable)"}},
          {"patch: {operation: REMOVE, value: {name: x}}", {"warning spec (unstable)"}},
          {"patch: {operation: MERGE, value: {nope: 1}}",
           {"warning spec (unstable)", "warning spec.configPatches[0].patch.value.nope (unknown-field)"}},
          {"match: {listener: {name: x}}, patch: {operation: MERGE, value: {}}",
           {"error spec.configPatches[0].match (conflict)", "warning spec (unstable)"}},
          {"match: {proxy: {proxyVersion: '('}}, patch: {operation: MERGE, value: {}}",
           {"error spec.configPatches[0].match.proxy.proxyVersion (invalid-value)",
            "warning spec (unstable)"}},
          {"patch: {operation: REPLACE, value: {}}", {"warning spec (unstable)"}},
          {"patch: {operation: MERGE, value: {transport_socket: {name: t, typed_config: {'@type': "
           "type.googleapis.com/envoy.api.v2.auth.UpstreamTlsContext}}}}",
           {"error spec.configPatches[0].patch.value.transport_socket.typed_config.@type (unknown-type)",
            "warning spec (unstable)"}},
      });
  ExpectFindings(
      "networking.istio.io/v1alpha3 EnvoyFilter", "{configPatches: [%]}",
      {
          {"{patch: {operation: MERGE, value: {}}}",
           {"error spec.configPatches[0].applyTo (missing-field)", "warning spec (unstable)"}},
          {"{applyTo: CLUSTER}",
           {"error spec.configPatches[0].patch (missing-field)", "warning spec (unstable)"}},
          {"{applyTo: LISTENER, match: {cluster: {name: x}}, patch: {operation: MERGE, value: {}}}",
           {"error spec.configPatches[0].match (conflict)", "warning spec (unstable)"}},
          {"{applyTo: HTTP_FILTER, match: {listener: {filterChain: {filter: {name: "
           "envoy.filters.network.tcp_proxy}}}}, patch: {operation: INSERT_BEFORE, value: {name: x}}}",
           {"warning spec (unstable)"}},
      });
}

}  // namespace
}  // namespace fairlead::config::check
