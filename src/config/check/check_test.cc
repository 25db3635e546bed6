#include "config/check/check.h"

#include "config/check_fixture.h"

// What is found in the metadata of every kind, and in what lies around the spec.
namespace fairlead::config::check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kTelemetry = "telemetry.istio.io/v1 Telemetry";

Findings Check(std::string_view text) { return ToFindings(ParseManifests(text, "a.yaml").diagnostics); }

TEST(CheckTest, Labels) {
  EXPECT_THAT(FindingsOf(kTelemetry, "{}", "labels: {a: b, example.com/c: ''}"), IsEmpty());
  EXPECT_THAT(
      FindingsOf(kTelemetry, "{}", "labels: {'-a': b, c: 'd/e'}"),
      ElementsAre("error metadata.labels.-a (invalid-value)", "error metadata.labels.c (invalid-value)"));
}

TEST(CheckTest, AnnotationsThatUsersMayNotSet) {
  EXPECT_THAT(FindingsOf(kTelemetry, "{}", "annotations: {anything.else/at-all: x}"), IsEmpty());
  for (std::string_view name : {"internal.istio.io/parents", "internal.istio.io/parent-namespace",
                                "internal.istio.io/webhook-always-reject"}) {
    EXPECT_THAT(FindingsOf(kTelemetry, "{}", StrCat("annotations: {", name, ": x}")),
                ElementsAre(StrCat("error metadata.annotations[", name, "] (unsupported)")));
  }
}

TEST(CheckTest, Names) {
  const auto check = [](std::string_view kind, std::string_view name, std::string_view more = "") {
    return Check(
        StrCat("apiVersion: networking.istio.io/v1\nkind: ", kind, "\nmetadata: {name: ", name, more,
               "}\nspec: {servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}\n"));
  };
  EXPECT_THAT(check("Gateway", "a-b"), IsEmpty());
  EXPECT_THAT(check("Gateway", "a.b"), ElementsAre("error metadata.name (invalid-value)"));
  EXPECT_THAT(check("Gateway", "a.b", ", annotations: {internal.istio.io/gateway-semantics: gateway}"),
              IsEmpty());
  for (std::string_view name : {"A", "a_b", "-a", "a..b"})
    EXPECT_THAT(check("Gateway", name), ElementsAre("error metadata.name (invalid-value)")) << name;
}

TEST(CheckTest, WhatIsBesideTheSpec) {
  constexpr std::string_view kHead =
      "apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: a}\n";
  EXPECT_THAT(Check(StrCat(kHead, "spec: {address: 1.2.3.4}\nstatus: {conditions: []}\n")), IsEmpty());
  EXPECT_THAT(Check(StrCat(kHead, "spec: {address: 1.2.3.4}\nstats: {}\n")),
              ElementsAre("error stats (unknown-field)"));
  EXPECT_THAT(Check(StrCat(kHead, "spec: {address: 1.2.3.4, adress: x}\n")),
              ElementsAre("error spec.adress (unknown-field)"));
  EXPECT_THAT(Check(StrCat(kHead, "spec: {address: 1.2.3.4, address: 1.2.3.5}\n")),
              ElementsAre("error spec.address (duplicate-key)"));
  EXPECT_THAT(Check(StrCat(kHead, "spec: null\n")),
              ElementsAre("error spec (missing-field)", "error spec.address (missing-field)"));
}

TEST(CheckTest, EveryVersionOfAKindHasTheRules) {
  for (std::string_view version : {"v1", "v1beta1", "v1alpha3"}) {
    EXPECT_THAT(
        FindingsOf(StrCat("networking.istio.io/", version, " WorkloadEntry"), "{address: a, weight: -1}"),
        ElementsAre("error spec.weight (out-of-range)"))
        << version;
  }
}

TEST(CheckTest, WhatWasAdmittedElsewhereIsOnlyRead) {
  const ParseResult result = ParseManifests(
      "apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: a}\nspec: {address: a_b}\n",
      "f", Admission::kPassed);
  EXPECT_EQ(result.objects.size(), 1u);
  EXPECT_THAT(result.diagnostics, IsEmpty());
}

TEST(CheckTest, ARefusedObjectIsBrokenAndAWarnedOneIsGood) {
  const auto parse = [](std::string_view spec) {
    return ParseManifests(
        StrCat("apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: a}\nspec: ", spec, "\n"),
        "f");
  };
  const ParseResult warned = parse("{egress: [{hosts: ['*/*', a/b.c]}]}");
  EXPECT_EQ(warned.objects.size(), 1u);
  EXPECT_EQ(warned.diagnostics.size(), 1u);
  const ParseResult refused = parse("{egress: [{hosts: [a]}]}");
  EXPECT_THAT(refused.objects, IsEmpty());
  ASSERT_EQ(refused.broken.size(), 1u);
  EXPECT_EQ(Describe(refused.broken[0]), "Sidecar default/a");
  EXPECT_FALSE(refused.unreadable);
}

// The values of headers, with what Envoy fills in.
TEST(CheckTest, HeaderValues) {
  const auto check = [](std::string_view value) {
    return FindingsOf("networking.istio.io/v1 VirtualService",
                      StrCat("{hosts: [a.b], http: [{headers: {request: {set: {x: '", value,
                             "'}}}, route: [{destination: {host: a.b}}]}]}"));
  };
  for (std::string_view good : {"", "plain", "100%%", "%HOSTNAME%", "a %HOSTNAME% b", "%START_TIME(%Y-%m)%",
                                "%REQ(X-A)%", "%DYNAMIC_METADATA([\"a\", \"b\"])%",
                                "%PER_REQUEST_STATE(a \\) b)%", "%UPSTREAM_METADATA( [ \"a\" ] )%"}) {
    EXPECT_THAT(check(good), IsEmpty()) << good;
  }
  for (std::string_view bad :
       {"%", "a%b", "100%", "%HOSTNAME", "%REQ(X-A", "%REQ(X-A)", "%REQ(X-A) b%", "%DYNAMIC_METADATA([\"a\"",
        "%DYNAMIC_METADATA([a])%", "%DYNAMIC_METADATA([\"a\" \"b\"])%"}) {
    EXPECT_THAT(check(bad), ElementsAre("error spec.http[0].headers.request.set.x (invalid-value)")) << bad;
  }
}

}  // namespace
}  // namespace fairlead::config::check
