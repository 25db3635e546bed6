#include "config/check_fixture.h"

// What is found in virtual services.
namespace fairlead::config::check {
namespace {

TEST(VirtualServiceCheckTest, Hosts) {
  ExpectFindings("networking.istio.io/v1 VirtualService", "%",
                 {
                     {"{hosts: [a.b], http: [{route: [{destination: {host: a.b}}]}]}", {}},
                     {"{hosts: [a.b]}", {"error spec (missing-field)"}},
                 });
  ExpectFindings("networking.istio.io/v1 VirtualService",
                 "{%, http: [{route: [{destination: {host: a.b}}]}]}",
                 {
                     {"hosts: ['*']", {"error spec.hosts[0] (invalid-value)"}},
                     {"hosts: ['*'], gateways: [g]", {}},
                     {"hosts: ['*'], gateways: [g, mesh]", {"error spec.hosts[0] (invalid-value)"}},
                     {"hosts: [a.b, '*.b']", {"error spec.hosts[1] (duplicate-item)"}},
                     {"hosts: [a_b]", {"error spec.hosts[0] (invalid-value)"}},
                     {"hosts: [1.2.3.4]", {}},
                     {"hosts: [a.1]", {"error spec.hosts[0] (invalid-value)"}},
                     {"hosts: [outbound_.80_._.a.b], gateways: [g]", {"error spec.hosts[0] (invalid-value)"}},
                 });
}

TEST(VirtualServiceCheckTest, GatewaysAndExports) {
  ExpectFindings("networking.istio.io/v1 VirtualService",
                 "{%, http: [{route: [{destination: {host: a.b}}]}]}",
                 {
                     {"hosts: [a.b], gateways: [g.ns]", {"warning spec.gateways[0] (deprecated)"}},
                     {"hosts: [a.b], gateways: [mesh, ns/g, n_s/g, ns/]", {}},
                     {"hosts: [a.b], exportTo: [., default]", {"error spec.exportTo[1] (duplicate-item)"}},
                     {"hosts: [a.b], exportTo: ['*', b]", {"error spec.exportTo (conflict)"}},
                     {"hosts: [a.b], exportTo: ['~']", {"error spec.exportTo[0] (invalid-value)"}},
                     {"hosts: [a.b], exportTo: [a_b]", {"error spec.exportTo[0] (invalid-value)"}},
                 });
}

TEST(VirtualServiceCheckTest, Delegates) {
  ExpectFindings("networking.istio.io/v1 VirtualService", "%",
                 {
                     {"{http: [{route: [{destination: {host: a.b}}]}]}", {}},
                     {"{http: [{delegate: {name: x}}]}",
                      {"error spec.http[0] (missing-field)", "error spec.http[0].delegate (unsupported)"}},
                     {"{gateways: [g], tcp: [{route: [{destination: {host: a.b}}]}], tls: [{match: "
                      "[{sniHosts: [a.b]}], route: [{destination: {host: a.b}}]}]}",
                      {"error spec.gateways (conflict)", "error spec.tcp (conflict)",
                       "error spec.tls (conflict)", "error spec.tls[0].match[0].sniHosts[0] (conflict)"}},
                 });
  ExpectFindings("networking.istio.io/v1 VirtualService", "{hosts: [a.b], http: [%]}",
                 {
                     {"{delegate: {name: x}}", {}},
                     {"{delegate: {name: x}, route: [{destination: {host: a.b}}], redirect: {uri: /}}",
                      {"error spec.http[0].redirect (conflict)", "error spec.http[0].route (conflict)"}},
                 });
}

TEST(VirtualServiceCheckTest, Actions) {
  ExpectFindings(
      "networking.istio.io/v1 VirtualService", "{hosts: [a.b], http: [%]}",
      {
          {"{}", {"error spec.http[0] (missing-field)"}},
          {"{redirect: {uri: /}, directResponse: {status: 200}}",
           {"error spec.http[0].directResponse (conflict)"}},
          {"{redirect: {uri: /}, fault: {delay: {fixedDelay: 1s}}, rewrite: {uri: /}}",
           {"error spec.http[0].fault (conflict)", "error spec.http[0].rewrite (conflict)"}},
          {"{redirect: {}}", {"error spec.http[0].redirect (missing-field)"}},
          {"{redirect: {uri: /, prefixRewrite: /b}}", {"error spec.http[0].redirect (conflict)"}},
          {"{redirect: {uri: /, redirectCode: 200, scheme: ftp, port: 70000}}",
           {"error spec.http[0].redirect.port (invalid-value)",
            "error spec.http[0].redirect.redirectCode (out-of-range)",
            "error spec.http[0].redirect.scheme (invalid-value)"}},
          {"{match: [{uri: {exact: /a}}], redirect: {prefixRewrite: /b}}",
           {"error spec.http[0].redirect.prefixRewrite (conflict)"}},
          {"{match: [{uri: {prefix: /a}}], redirect: {prefixRewrite: /b}}", {}},
          {"{directResponse: {status: 99}}", {"error spec.http[0].directResponse.status (out-of-range)"}},
          {"{directResponse: {status: 503, body: {string: gone}}}", {}},
      });
}

TEST(VirtualServiceCheckTest, Rewrites) {
  ExpectFindings(
      "networking.istio.io/v1 VirtualService",
      "{hosts: [a.b], http: [{%, route: [{destination: {host: a.b}}]}]}",
      {
          {"rewrite: {}", {"error spec.http[0].rewrite (missing-field)"}},
          {"rewrite: {uri: /, uriRegexRewrite: {match: a, rewrite: b}}",
           {"error spec.http[0].rewrite (conflict)"}},
          {"rewrite: {uriRegexRewrite: {match: a}}",
           {"error spec.http[0].rewrite.uriRegexRewrite (missing-field)"}},
          {"rewrite: {uriRegexRewrite: {match: '(', rewrite: b}}",
           {"error spec.http[0].rewrite.uriRegexRewrite.match (invalid-value)"}},
          {"rewrite: {authority: x}, headers: {request: {set: {Host: c}}}",
           {"error spec.http[0] (conflict)"}},
          {"headers: {request: {set: {Host: c}, add: {':authority': d}}}", {"error spec.http[0] (conflict)"}},
      });
}

TEST(VirtualServiceCheckTest, Headers) {
  ExpectFindings("networking.istio.io/v1 VirtualService",
                 "{hosts: [a.b], http: [{%, route: [{destination: {host: a.b}}]}]}",
                 {
                     {"headers: {request: {set: {x: '%DOWNSTREAM_REMOTE_ADDRESS%', z: 100%%}}}", {}},
                     {"headers: {request: {set: {':path': c}, remove: [host]}, response: {add: {host: c}}}",
                      {"error spec.http[0].headers.request.remove (unsupported)",
                       "error spec.http[0].headers.request.set (unsupported)",
                       "error spec.http[0].headers.response.add (unsupported)"}},
                     {"headers: {request: {set: {x: 'a%b'}}}",
                      {"error spec.http[0].headers.request.set.x (invalid-value)"}},
                     {"headers: {request: {set: {x: '%REQ(a%'}}}",
                      {"error spec.http[0].headers.request.set.x (invalid-value)"}},
                 });
  ExpectFindings("networking.istio.io/v1 VirtualService", "%",
                 {
                     {"{hosts: [a.b], http: [{route: [{destination: {host: a.b}, headers: {response: {set: "
                      "{':status': c}}}}]}]}",
                      {"error spec.http[0].route[0].headers.response.set (unsupported)"}},
                 });
}

TEST(VirtualServiceCheckTest, Faults) {
  ExpectFindings(
      "networking.istio.io/v1 VirtualService",
      "{hosts: [a.b], http: [{%, route: [{destination: {host: a.b}}]}]}",
      {
          {"fault: {}", {"error spec.http[0].fault (missing-field)"}},
          {"fault: {delay: {fixedDelay: 5s, percentage: {value: 0.1}}, abort: {httpStatus: 503}}", {}},
          {"fault: {abort: {httpStatus: 700, percentage: {value: 101}}, delay: {exponentialDelay: 1s}}",
           {"error spec.http[0].fault.abort.httpStatus (out-of-range)",
            "error spec.http[0].fault.abort.percentage (out-of-range)",
            "error spec.http[0].fault.delay.exponentialDelay (unsupported)"}},
          {"fault: {abort: {httpStatus: 503, percentage: {value: 0.00001}}}",
           {"error spec.http[0].fault.abort.percentage (out-of-range)"}},
          {"fault: {abort: {grpcStatus: NOPE}}",
           {"error spec.http[0].fault.abort.grpcStatus (invalid-value)"}},
          {"fault: {abort: {grpcStatus: NOT_FOUND}}", {}},
          {"fault: {abort: {http2Error: x}}", {"error spec.http[0].fault.abort.http2Error (unsupported)"}},
          {"fault: {abort: {percentage: {value: 10}}}", {}},
      });
}

TEST(VirtualServiceCheckTest, TimeoutsAndRetries) {
  ExpectFindings(
      "networking.istio.io/v1 VirtualService",
      "{hosts: [a.b], http: [{%, route: [{destination: {host: a.b}}]}]}",
      {
          {"timeout: 1h30m, retries: {attempts: 3, perTryTimeout: 250ms, retryOn: 'gateway-error,503', "
           "backoff: 1s}",
           {}},
          {"timeout: 0s", {"error spec.http[0].timeout (invalid-value)"}},
          {"retries: {attempts: 0, perTryTimeout: 1s}", {"error spec.http[0].retries (conflict)"}},
          {"retries: {attempts: -1}", {"error spec.http[0].retries.attempts (out-of-range)"}},
          {"retries: {attempts: 1, perTryTimeout: 0s}",
           {"error spec.http[0].retries.perTryTimeout (invalid-value)"}},
          {"retries: {attempts: 1, retryOn: '5xx,nope,503'}",
           {"error spec.http[0].retries.retryOn (invalid-value)"}},
          {"retries: {attempts: 1, retryOn: '599'}", {"error spec.http[0].retries.retryOn (invalid-value)"}},
      });
}

TEST(VirtualServiceCheckTest, Cors) {
  ExpectFindings("networking.istio.io/v1 VirtualService",
                 "{hosts: [a.b], http: [{%, route: [{destination: {host: a.b}}]}]}",
                 {
                     {"corsPolicy: {allowOrigins: [{exact: a}, {prefix: b}], allowMethods: [GET, '*'], "
                      "allowHeaders: [x-a], maxAge: 10s}",
                      {}},
                     {"corsPolicy: {allowOrigins: [{exact: ''}, {regex: '('}], allowMethods: [FOO], "
                      "allowHeaders: ['a b'], exposeHeaders: [''], maxAge: 0.5s}",
                      {"error spec.http[0].corsPolicy.allowHeaders[0] (invalid-value)",
                       "error spec.http[0].corsPolicy.allowMethods[0] (invalid-value)",
                       "error spec.http[0].corsPolicy.allowOrigins[0] (missing-field)",
                       "error spec.http[0].corsPolicy.allowOrigins[1] (invalid-value)",
                       "error spec.http[0].corsPolicy.exposeHeaders[0] (invalid-value)",
                       "error spec.http[0].corsPolicy.maxAge (invalid-value)"}},
                 });
}

TEST(VirtualServiceCheckTest, Mirrors) {
  ExpectFindings(
      "networking.istio.io/v1 VirtualService",
      "{hosts: [a.b], http: [{%, route: [{destination: {host: a.b}}]}]}",
      {
          {"mirror: {host: m}, mirrorPercentage: {value: 50}", {}},
          {"mirror: {host: m}, mirrors: [{destination: {host: m}}], mirrorPercent: 101",
           {"error spec.http[0].mirror (conflict)", "error spec.http[0].mirrorPercent (out-of-range)",
            "warning spec.http[0].mirrorPercent (deprecated)"}},
          {"mirrors: [{percentage: {value: 5}}]",
           {"error spec.http[0].mirrors[0].destination (missing-field)"}},
          {"mirrors: [{destination: {host: m}, percentage: {value: 101}}]",
           {"error spec.http[0].mirrors[0].percentage (out-of-range)"}},
      });
}

TEST(VirtualServiceCheckTest, Destinations) {
  ExpectFindings(
      "networking.istio.io/v1 VirtualService", "{hosts: [a.b], http: [{route: [%]}]}",
      {
          {"{destination: {host: a.b}, weight: 0}, {destination: {host: c.d}, weight: 0}",
           {"error spec.http[0].route (invalid-value)"}},
          {"{destination: {host: a.b}, weight: 0}, {destination: {host: c.d}, weight: 1}", {}},
          {"{destination: {host: a.b, subset: a_b, port: {number: 0}}, weight: -1}",
           {"error spec.http[0].route[0].destination.port.number (invalid-value)",
            "error spec.http[0].route[0].destination.subset (invalid-value)",
            "error spec.http[0].route[0].weight (out-of-range)"}},
          {"{destination: {host: '*'}}", {"error spec.http[0].route[0].destination.host (invalid-value)"}},
          {"{weight: 1}", {"error spec.http[0].route[0].destination (missing-field)"}},
      });
}

TEST(VirtualServiceCheckTest, Matches) {
  ExpectFindings(
      "networking.istio.io/v1 VirtualService",
      "{hosts: [a.b], http: [{%, route: [{destination: {host: a.b}}]}]}",
      {
          {"match: [{uri: {prefix: /}, method: {exact: GET}, headers: {x-a: {regex: 'b.*'}}, queryParams: "
           "{q: {exact: ''}}, port: 80}]",
           {}},
          {"match: [{uri: {prefix: ''}, scheme: {prefix: ''}, headers: {'a b': {exact: x}}, port: 70000}]",
           {"error spec.http[0].match[0].headers (invalid-value)",
            "error spec.http[0].match[0].port (invalid-value)",
            "error spec.http[0].match[0].scheme.prefix (invalid-value)"}},
          {"match: [{uri: {regex: ''}, method: {regex: '('}, sourceLabels: {a: '*'}, sourceNamespace: a_b, "
           "gateways: [a_b]}]",
           {"error spec.http[0].match[0].gateways[0] (invalid-value)",
            "error spec.http[0].match[0].method.regex (invalid-value)",
            "error spec.http[0].match[0].sourceLabels.a (invalid-value)",
            "error spec.http[0].match[0].sourceNamespace (invalid-value)",
            "error spec.http[0].match[0].uri.regex (invalid-value)"}},
          {"match: [{withoutHeaders: {x: {regex: '*'}}}]", {}},
          {"match: [{headers: {'@request.auth.claims.x': {exact: c}}}]",
           {"error spec.http[0].match (unsupported)"}},
      });
  ExpectFindings("networking.istio.io/v1 VirtualService", "%",
                 {
                     {"{hosts: [a.b], gateways: [g], http: [{match: [{headers: {'@request.auth.claims[x]': "
                      "{exact: c}}}], route: [{destination: {host: a.b}}]}]}",
                      {}},
                 });
}

TEST(VirtualServiceCheckTest, WhatIsNeverReached) {
  ExpectFindings("networking.istio.io/v1 VirtualService", "{hosts: [a.b], http: [%]}",
                 {
                     {"{route: [{destination: {host: a.b}}]}, {match: [{uri: {prefix: /x}}], route: "
                      "[{destination: {host: a.b}}]}",
                      {"warning spec.http[1].match[0] (unreachable)"}},
                     {"{match: [{uri: {prefix: /x}}], route: [{destination: {host: a.b}}]}, {match: [{uri: "
                      "{prefix: /x/z}}], route: [{destination: {host: a.b}}]}",
                      {"warning spec.http[1].match[0] (unreachable)"}},
                     {"{match: [{uri: {prefix: /x}, method: {exact: POST}}], route: [{destination: {host: "
                      "a.b}}]}, {match: [{uri: {prefix: /x/z}}], route: [{destination: {host: a.b}}]}",
                      {}},
                     {"{match: [{uri: {exact: /x}}], route: [{destination: {host: a.b}}]}, {match: [{name: "
                      "other, uri: {exact: /x}}], route: [{destination: {host: a.b}}]}",
                      {"warning spec.http[1] (unreachable)", "warning spec.http[1].match[0] (unreachable)"}},
                 });
  ExpectFindings("networking.istio.io/v1 VirtualService", "%",
                 {
                     {"{hosts: [a.b], http: [{match: [{uri: {exact: /x}}, {uri: {exact: /x}}], route: "
                      "[{destination: {host: a.b}}]}]}",
                      {"warning spec.http[0].match[1] (unreachable)"}},
                     {"{hosts: [a.b], tcp: [{route: [{destination: {host: a.b}}]}, {match: [{port: 80}], "
                      "route: [{destination: {host: a.b}}]}]}",
                      {"warning spec.tcp[1].match[0] (unreachable)"}},
                 });
}

TEST(VirtualServiceCheckTest, TlsAndTcp) {
  ExpectFindings(
      "networking.istio.io/v1 VirtualService", "{hosts: [a.b], %}",
      {
          {"tls: [{match: [{sniHosts: [a.b], port: 443}], route: [{destination: {host: a.b}}]}]", {}},
          {"tls: [{match: [{sniHosts: [c.d]}], route: [{destination: {host: a.b}}]}]",
           {"error spec.tls[0].match[0].sniHosts[0] (conflict)"}},
          {"tls: [{match: [{sniHosts: [1.2.3.4]}], route: [{destination: {host: a.b}}]}]",
           {"warning spec.tls[0].match[0].sniHosts[0] (unusual)"}},
          {"tls: [{match: [{}], route: [{destination: {host: a.b}}]}]",
           {"error spec.tls[0].match[0].sniHosts (missing-field)"}},
          {"tls: [{route: [{destination: {host: a.b}}]}]", {"error spec.tls[0].match (missing-field)"}},
          {"tcp: [{match: [{destinationSubnets: [x, 10.0.0.0/8], port: 70000, sourceLabels: {'': x}}], "
           "route: []}]",
           {"error spec.tcp[0].match[0].destinationSubnets[0] (invalid-value)",
            "error spec.tcp[0].match[0].port (invalid-value)",
            "error spec.tcp[0].match[0].sourceLabels[] (invalid-value)",
            "error spec.tcp[0].route (missing-field)"}},
          {"tcp: [{route: [{destination: {host: '*'}}, {destination: {host: b}}]}]",
           {"error spec.tcp[0].route (invalid-value)",
            "error spec.tcp[0].route[0].destination.host (invalid-value)"}},
          {"tcp: [{route: [{destination: {host: a.b}, weight: 10}, {destination: {host: b}, weight: 90}]}]",
           {}},
      });
  ExpectFindings("networking.istio.io/v1 VirtualService", "%",
                 {
                     {"{hosts: ['*.b'], gateways: [g], tls: [{match: [{sniHosts: [x.b]}], route: "
                      "[{destination: {host: a.b}}]}]}",
                      {}},
                 });
}

}  // namespace
}  // namespace fairlead::config::check
