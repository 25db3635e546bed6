#include "config/check_fixture.h"

// What is found in authentication policies.
namespace fairlead::config::check {
namespace {

TEST(AuthenticationCheckTest, JwtRules) {
  ExpectFindings(
      "security.istio.io/v1 RequestAuthentication", "{jwtRules: [{issuer: a, %}]}",
      {
          {"jwksUri: 'https://a/k', fromHeaders: [{name: x}], fromParams: [q], audiences: [b], "
           "outputClaimToHeaders: [{header: x-a, claim: c}], timeout: 5s",
           {}},
          {"jwksUri: 'ftp://a'", {"error spec.jwtRules[0].jwksUri (invalid-value)"}},
          {"jwksUri: 'https://a:x/'", {"error spec.jwtRules[0].jwksUri (invalid-value)"}},
          {"jwksUri: 'https://a', jwks: '{}'",
           {"error spec.jwtRules[0] (broken-rule)", "error spec.jwtRules[0].jwks (invalid-value)"}},
          {"jwks: 'x'", {"error spec.jwtRules[0].jwks (invalid-value)"}},
          {"jwks: '{\"keys\": [{\"kty\": \"RSA\", \"n\": \"a\", \"e\": \"AQAB\"}]}'", {}},
          {"jwks: '{\"keys\": [{\"kty\": \"RSA\", \"n\": \"a\"}]}'",
           {"error spec.jwtRules[0].jwks (invalid-value)"}},
          {"jwks: '{\"keys\": [{\"kty\": \"oct\", \"k\": \"a\"}]}'",
           {"warning spec.jwtRules[0].jwks (private-key)"}},
          {"fromHeaders: [{name: ''}], fromParams: [''], fromCookies: [''], audiences: ['']",
           {"error spec.jwtRules[0].audiences (missing-field)",
            "error spec.jwtRules[0].audiences[0] (out-of-range)",
            "error spec.jwtRules[0].fromCookies (missing-field)",
            "error spec.jwtRules[0].fromCookies[0] (out-of-range)",
            "error spec.jwtRules[0].fromHeaders[0].name (missing-field)",
            "error spec.jwtRules[0].fromParams (missing-field)",
            "error spec.jwtRules[0].fromParams[0] (out-of-range)"}},
          {"outputClaimToHeaders: [{header: 'a b', claim: c}, {header: x, claim: ''}]",
           {"error spec.jwtRules[0].outputClaimToHeaders[0].header (invalid-value)",
            "error spec.jwtRules[0].outputClaimToHeaders[1] (missing-field)",
            "error spec.jwtRules[0].outputClaimToHeaders[1].claim (out-of-range)"}},
          {"timeout: 0s", {"error spec.jwtRules[0].timeout (invalid-value)"}},
          {"presence: REQUIRED", {}},
      });
  ExpectFindings(
      "security.istio.io/v1 RequestAuthentication", "{jwtRules: [%]}",
      {
          {"{}", {"error spec.jwtRules[0] (missing-field)"}},
          {"{issuer: ''}",
           {"error spec.jwtRules[0] (missing-field)", "error spec.jwtRules[0].issuer (out-of-range)"}},
          {"{issuer: a}",
           {"error metadata.annotations[istio.io/dry-run] (unsupported)"},
           "annotations: {istio.io/dry-run: 'true'}"},
      });
}

TEST(AuthenticationCheckTest, PeerAuthentications) {
  ExpectFindings(
      "security.istio.io/v1 PeerAuthentication", "%",
      {
          {"{mtls: {mode: STRICT}}", {}},
          {"{selector: {matchLabels: {a: b}}, portLevelMtls: {80: {mode: DISABLE}}}", {}},
          {"{selector: {matchLabels: {a: b}}, portLevelMtls: {'08080': {mode: DISABLE}}}",
           {"error spec.portLevelMtls.08080 (wrong-type)"}},
          {"{portLevelMtls: {80: {mode: DISABLE}}}",
           {"error spec (broken-rule)", "error spec.portLevelMtls (conflict)"}},
          {"{selector: {matchLabels: {a: b}}, portLevelMtls: {}}",
           {"error spec.portLevelMtls (missing-field)"}},
          {"{selector: {matchLabels: {a: b}}, portLevelMtls: {0: {mode: DISABLE}, 65536: {mode: STRICT}}}",
           {"error spec.portLevelMtls (broken-rule)", "error spec.portLevelMtls.0 (invalid-value)",
            "error spec.portLevelMtls.65536 (invalid-value)"}},
          {"{selector: {matchLabels: {}}}", {"warning spec.selector.matchLabels (selects-all)"}},
          {"{mtls: {mode: NOPE}}", {"error spec.mtls.mode (unknown-value)"}},
      });
}

}  // namespace
}  // namespace fairlead::config::check
