#include "config/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/read/manifests.h"

namespace fairlead::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kMesh[] = R"(
{apiVersion: v1, kind: Service, metadata: {name: reviews, namespace: shop}, spec: {ports: [{port: 80}]}}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: outside, namespace: shop}
spec: {hosts: [api.example.com, "*.wild.example.com"], ports: [{number: 443, name: tls, protocol: TLS}], resolution: NONE}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: reviews, namespace: shop}
spec: {host: reviews.shop.svc.cluster.local, subsets: [{name: v1}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: all, namespace: istio-system}
spec: {host: "*.shop.svc.cluster.local", subsets: [{name: any}]}
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  selector: {a: b}
  servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["shop/*.example.com", "./own.example.org"]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: kgw, namespace: shop}
spec: {gatewayClassName: istio, listeners: [{name: a, port: 80, protocol: HTTP, hostname: "*.example.net"}]}
)";

// "IST0101 shop/web spec.http[0]…": what is found beside kMesh.
std::vector<std::string> Found(std::string_view text) {
  const ParseResult parsed = ParseManifests(StrCat(kMesh, "---", text), "f", Admission::kPassed);
  EXPECT_THAT(parsed.broken, IsEmpty());
  ObjectStore store;
  for (const ConfigPtr& object : parsed.objects)
    store.Apply(std::vector<ObjectChange>{{KeyOf(*object), object}});
  std::vector<std::string> found;
  for (const Diagnostic& one : FindLostReferences(store, store, "cluster.local")) {
    EXPECT_EQ(one.severity, Severity::kWarning);
    found.push_back(StrCat(one.code, " ", one.object->ns.str(), "/", one.object->name.str(), " ", one.path));
  }
  return found;
}

std::string Route(std::string_view name, std::string_view spec) {
  return StrCat("\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: ", name,
                ", namespace: shop}\nspec: ", spec, "\n---");
}
std::string To(std::string_view destination) {
  return StrCat("{hosts: [a.b], http: [{route: [{destination: {", destination, "}}]}]}");
}

TEST(ReferencesTest, WhatIsThereIsNoFinding) {
  for (const char* destination :
       {"host: reviews", "host: reviews.shop.svc.cluster.local", "host: api.example.com",
        "host: x.wild.example.com", "host: reviews, subset: v1",
        "host: reviews.shop.svc.cluster.local, subset: any", "host: a.b.svc.clusterset.local"})
    EXPECT_THAT(Found(Route("web", To(destination))), IsEmpty()) << destination;
  EXPECT_THAT(
      Found(Route("web",
                  "{hosts: [a.example.com], gateways: [infra/edge, mesh], http: [{route: [{destination: "
                  "{host: reviews}}]}]}") +
            Route("knet",
                  "{hosts: [a.example.net], gateways: [kgw], tcp: [{route: [{destination: {host: "
                  "reviews}}]}]}") +
            Route("delegate", "{http: [{route: [{destination: {host: reviews}}]}]}")),
      IsEmpty());
}

TEST(ReferencesTest, HostsAndSubsetsThatAreNowhere) {
  EXPECT_THAT(Found(Route("web", To("host: reviewz"))),
              ElementsAre("IST0101 shop/web spec.http[0].route[0].destination.host"));
  EXPECT_THAT(Found(Route("web", To("host: reviews, subset: v2"))),
              ElementsAre("IST0101 shop/web spec.http[0].route[0].destination.subset"));
  EXPECT_THAT(
      Found(Route("web",
                  "{hosts: [a.b], http: [{route: [{destination: {host: reviews}}], mirror: {host: nobody}, "
                  "mirrors: [{destination: {host: reviews, subset: v9}}]}], tls: [{match: [{sniHosts: "
                  "[a.b]}], route: [{destination: {host: nobody.example.com}}]}]}")),
      UnorderedElementsAre("IST0101 shop/web spec.http[0].mirror.host",
                           "IST0101 shop/web spec.http[0].mirrors[0].destination.subset",
                           "IST0101 shop/web spec.tls[0].route[0].destination.host"));
}

TEST(ReferencesTest, GatewaysThatAreNowhereOrServeOthers) {
  const auto with = [](std::string_view hosts, std::string_view gateways) {
    return Found(Route("web", StrCat("{hosts: [", hosts, "], gateways: [", gateways,
                                     "], http: [{route: [{destination: {host: reviews}}]}]}")));
  };
  EXPECT_THAT(with("a.example.com", "edge"), ElementsAre("IST0101 shop/web spec.gateways[0]"));
  EXPECT_THAT(with("a.example.org", "infra/edge"), ElementsAre("IST0132 shop/web spec.gateways[0]"));
  EXPECT_THAT(with("own.example.org", "infra/edge"), ElementsAre("IST0132 shop/web spec.gateways[0]"));
  EXPECT_THAT(with("a.example.org, '*.com'", "mesh, infra/edge"), IsEmpty());
  EXPECT_THAT(with("a.example.com", "kgw"), ElementsAre("IST0132 shop/web spec.gateways[0]"));
}

TEST(ReferencesTest, HostsOfSeveral) {
  const std::string first =
      Route("one", "{hosts: [reviews], http: [{route: [{destination: {host: reviews}}]}]}");
  const auto second = [&first](std::string_view more) {
    return Found(first + Route("two", StrCat("{hosts: [reviews.shop.svc.cluster.local], ", more,
                                             "http: [{route: [{destination: {host: reviews}}]}]}")));
  };
  EXPECT_THAT(second(""), UnorderedElementsAre("IST0109 shop/one spec.hosts", "IST0109 shop/two spec.hosts"));
  EXPECT_THAT(second("exportTo: [elsewhere], "),
              UnorderedElementsAre("IST0109 shop/one spec.hosts", "IST0109 shop/two spec.hosts"));
  EXPECT_THAT(second("gateways: [kgw], "), ElementsAre("IST0132 shop/two spec.gateways[0]"));
}

TEST(ReferencesTest, TheyMayBeSuppressed) {
  const std::string text =
      ReplaceAll(Route("web", To("host: nobody")), "namespace: shop",
                 "namespace: shop, annotations: {galley.istio.io/analyze-suppress: 'IST0109, IST0101'}");
  EXPECT_THAT(Found(text), IsEmpty());
}

}  // namespace
}  // namespace fairlead::config
