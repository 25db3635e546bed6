#include "config/check_fixture.h"

// What is found in authorization policies.
namespace fairlead::config::check {
namespace {

TEST(AuthorizationPolicyCheckTest, AuthorizationTargets) {
  ExpectFindings(
      "security.istio.io/v1 AuthorizationPolicy", "%",
      {
          {"{}", {}},
          {"{selector: {matchLabels: {a: b}}, targetRefs: [{kind: Service, name: s}]}",
           {"error spec (conflict)"}},
          {"{targetRefs: [{kind: Pod, name: p}, {kind: Service, name: '', namespace: other}]}",
           {"error spec.targetRefs[0].kind (invalid-value)", "error spec.targetRefs[1].name (missing-field)",
            "error spec.targetRefs[1].namespace (unsupported)"}},
          {"{targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}, {group: "
           "networking.istio.io, kind: ServiceEntry, name: e}]}",
           {}},
          {"{selector: {matchLabels: {'': b, 'c*': d}}}",
           {"error spec.selector.matchLabels (invalid-value)",
            "error spec.selector.matchLabels[c*] (invalid-value)"}},
          {"{selector: {}}", {"warning spec.selector.matchLabels (selects-all)"}},
      });
}

TEST(AuthorizationPolicyCheckTest, AuthorizationActions) {
  ExpectFindings(
      "security.istio.io/v1 AuthorizationPolicy", "%",
      {
          {"{action: DENY}", {"error spec.rules (missing-field)"}},
          {"{action: DENY, rules: []}", {"error spec.rules (missing-field)"}},
          {"{action: DENY, rules: [{}]}", {}},
          {"{action: CUSTOM, provider: {name: p}}", {"error spec.rules (missing-field)"}},
          {"{action: CUSTOM, rules: [{}]}", {"error spec.provider.name (missing-field)"}},
          {"{action: CUSTOM, provider: {name: p}, rules: [{to: [{operation: {paths: [/a]}}]}]}", {}},
          {"{action: CUSTOM, provider: {name: p}, rules: [{from: [{source: {principals: [a]}}], when: [{key: "
           "'request.auth.claims[a]', values: [b]}, {key: source.namespace, values: [b]}]}]}",
           {"error spec.rules[0].from (unsupported)", "error spec.rules[0].when (unsupported)"}},
          {"{action: ALLOW, provider: {name: p}}", {"error spec.provider (conflict)"}},
          {"{action: NOPE}", {"error spec.action (unknown-value)"}},
      });
}

TEST(AuthorizationPolicyCheckTest, AuthorizationSources) {
  ExpectFindings(
      "security.istio.io/v1 AuthorizationPolicy", "{rules: [{from: [{source: %}]}]}",
      {
          {"{principals: [a], namespaces: [b], requestPrincipals: ['*'], ipBlocks: [1.2.3.4, 10.0.0.0/8]}",
           {}},
          {"{}", {"error spec.rules[0].from[0].source (missing-field)"}},
          {"{principals: ['']}", {"error spec.rules[0].from[0].source.principals[0] (invalid-value)"}},
          {"{ipBlocks: [x], notRemoteIpBlocks: [10.0.0.0/33]}",
           {"error spec.rules[0].from[0].source.ipBlocks[0] (invalid-value)",
            "error spec.rules[0].from[0].source.notRemoteIpBlocks[0] (invalid-value)"}},
          {"{serviceAccounts: [a, ns/a]}", {}},
          {"{serviceAccounts: ['*', a/b/c, /a], notServiceAccounts: [ns/]}",
           {"error spec.rules[0].from[0].source.notServiceAccounts[0] (invalid-value)",
            "error spec.rules[0].from[0].source.serviceAccounts[0] (invalid-value)",
            "error spec.rules[0].from[0].source.serviceAccounts[1] (invalid-value)",
            "error spec.rules[0].from[0].source.serviceAccounts[2] (invalid-value)"}},
          {"{serviceAccounts: [a], namespaces: [b]}", {"error spec.rules[0].from[0].source (conflict)"}},
          {"{trustDomains: [a, 'b*', '*c'], notTrustDomains: ['a*b', a/b]}",
           {"error spec.rules[0].from[0].source.notTrustDomains[0] (invalid-value)",
            "error spec.rules[0].from[0].source.notTrustDomains[1] (invalid-value)"}},
      });
  ExpectFindings("security.istio.io/v1 AuthorizationPolicy", "%",
                 {
                     {"{rules: [{from: []}]}", {}},
                     {"{rules: [{from: [{}]}]}", {"error spec.rules[0].from[0].source (missing-field)"}},
                 });
}

TEST(AuthorizationPolicyCheckTest, AuthorizationOperations) {
  ExpectFindings("security.istio.io/v1 AuthorizationPolicy", "{rules: [{to: [{operation: %}]}]}",
                 {
                     {"{methods: [GET], paths: [/a/*, '/b/{*}/c/{**}'], ports: ['80'], hosts: [a.b]}", {}},
                     {"{}", {"error spec.rules[0].to[0].operation (missing-field)"}},
                     {"{ports: [http, '65536'], methods: ['']}",
                      {"error spec.rules[0].to[0].operation.methods[0] (invalid-value)",
                       "error spec.rules[0].to[0].operation.ports[0] (invalid-value)",
                       "error spec.rules[0].to[0].operation.ports[1] (invalid-value)"}},
                     {"{paths: ['/a/{**}/b/{*}', '/{a}', '/a{*}', '/{*}/a b']}",
                      {"error spec.rules[0].to[0].operation.paths[0] (invalid-value)",
                       "error spec.rules[0].to[0].operation.paths[1] (invalid-value)",
                       "error spec.rules[0].to[0].operation.paths[2] (invalid-value)",
                       "error spec.rules[0].to[0].operation.paths[3] (invalid-value)"}},
                 });
  ExpectFindings("security.istio.io/v1 AuthorizationPolicy", "%",
                 {
                     {"{rules: [{to: [{}]}]}", {"error spec.rules[0].to[0].operation (missing-field)"}},
                 });
}

TEST(AuthorizationPolicyCheckTest, AuthorizationConditions) {
  ExpectFindings(
      "security.istio.io/v1 AuthorizationPolicy", "{rules: [{when: [%]}]}",
      {
          {"{key: 'request.headers[x]', values: [a]}, {key: source.ip, notValues: [10.0.0.0/8]}, {key: "
           "destination.port, values: ['80']}, {key: connection.sni, values: [a]}",
           {}},
          {"{key: '', values: [a]}", {"error spec.rules[0].when[0].key (missing-field)"}},
          {"{key: source.ip}", {"error spec.rules[0].when[0] (missing-field)"}},
          {"{key: source.ip, values: [x]}, {key: destination.port, values: [x]}, {key: request.headers, "
           "values: [a]}",
           {"error spec.rules[0].when[0].values[0] (invalid-value)",
            "error spec.rules[0].when[1].values[0] (invalid-value)",
            "error spec.rules[0].when[2].key (invalid-value)"}},
          {"{key: 'destination.labels[a]', values: [a]}, {key: nope, values: [a]}, {key: "
           "'experimental.envoy.filters.a[b]', values: [a]}",
           {"error spec.rules[0].when[0].key (invalid-value)",
            "error spec.rules[0].when[1].key (invalid-value)"}},
          {"{key: source.serviceAccount, values: ['*']}, {key: source.trustDomain, values: ['a*b']}",
           {"error spec.rules[0].when[0].values[0] (invalid-value)",
            "error spec.rules[0].when[1].values[0] (invalid-value)"}},
      });
}

TEST(AuthorizationPolicyCheckTest, DenyRulesOfHttpAttributesAlone) {
  ExpectFindings("security.istio.io/v1 AuthorizationPolicy", "{action: DENY, rules: [%]}",
                 {
                     {"{to: [{operation: {methods: [GET]}}]}", {"warning spec.rules[0] (denies-tcp)"}},
                     {"{to: [{operation: {methods: [GET], ports: ['80']}}]}", {}},
                     {"{from: [{source: {requestPrincipals: [a]}}]}", {"warning spec.rules[0] (denies-tcp)"}},
                     {"{from: [{source: {principals: [a]}}]}", {}},
                 });
}

TEST(AuthorizationPolicyCheckTest, DryRun) {
  ExpectFindings("security.istio.io/v1 AuthorizationPolicy", "{action: DENY, rules: [%]}",
                 {
                     {"{}", {}, "annotations: {istio.io/dry-run: 'true'}"},
                     {"{}",
                      {"error metadata.annotations[istio.io/dry-run] (invalid-value)"},
                      "annotations: {istio.io/dry-run: maybe}"},
                 });
  ExpectFindings("security.istio.io/v1 AuthorizationPolicy", "%",
                 {
                     {"{action: AUDIT, rules: [{}]}",
                      {"error metadata.annotations[istio.io/dry-run] (unsupported)"},
                      "annotations: {istio.io/dry-run: 'true'}"},
                 });
}

}  // namespace
}  // namespace fairlead::config::check
