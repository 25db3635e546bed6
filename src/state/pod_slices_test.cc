#include "state/pod_slices.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "model/mesh_config.h"
#include "state/mesh.h"

// Services of a folder get endpoints from its Pods where no EndpointSlice is written, as Kubernetes'
// controller would make them.
namespace fairlead::state {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kService = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  clusterIP: 10.9.0.1
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}]
)";

constexpr std::string_view kSlice = R"(
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 81}]
endpoints: [{addresses: [10.8.0.9]}]
)";

std::string Pod(std::string_view name, std::string_view status, std::string_view spec = "",
                std::string_view meta = "labels: {app: web}") {
  if (spec.empty()) spec = ", containers: [{name: app}]";
  return StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, ", namespace: shop, ", meta,
                "}\nspec: {serviceAccountName: web-account", spec, "}\nstatus: {", status, "}\n");
}
std::string Running(std::string_view address, std::string_view ready = "True") {
  return StrCat("phase: Running, podIP: '", address, "', conditions: [{type: Ready, status: '", ready, "'}]");
}

class PodSlicesTest : public testing::Test {
 protected:
  PodSlicesTest() : mesh_(Steps()) {
    mesh_.Apply({}, model::MakeSettings(model::ParseMeshConfig("", "mesh.yaml").mesh,
                                        model::ParseMeshNetworks("", "networks.yaml").networks,
                                        "cluster.local", "Kubernetes"));
  }
  static std::vector<std::unique_ptr<Derivation>> Steps() {
    std::vector<std::unique_ptr<Derivation>> steps;
    steps.push_back(NewPodSlicesDerivation());
    return steps;
  }
  void Apply(std::string_view manifests, bool gone = false) {
    const config::ParseResult parsed =
        config::ParseManifests(manifests, "mesh/web.yaml", config::Admission::kPassed);
    for (const config::Diagnostic& one : parsed.diagnostics) ADD_FAILURE() << config::ToText(one);
    std::vector<config::ObjectChange> changes;
    for (const config::ConfigPtr& object : parsed.objects)
      changes.push_back({config::KeyOf(*object), gone ? nullptr : object});
    mesh_.Apply(changes, nullptr);
  }
  // "ADDRESS:PORT account" each, with " HEALTH" where it is not healthy.
  std::vector<std::string> Endpoints(std::string_view host = "web.shop.svc.cluster.local") const {
    std::vector<std::string> all;
    const auto found = mesh_.snapshot()->endpoints->Find(host, "shop");
    if (found == nullptr) return all;
    for (const model::EndpointShard& shard : found->shards) {
      for (const model::Endpoint& one : shard.endpoints) {
        std::string& text = all.emplace_back(StrCat(one.addresses[0].str(), ":", one.port));
        if (one.health == model::Health::kUnhealthy) text += " unhealthy";
        if (one.health == model::Health::kTerminating) text += " terminating";
      }
    }
    return all;
  }
  std::vector<std::string> Problems() const {
    std::vector<std::string> all;
    for (const config::Diagnostic& one : mesh_.Diagnostics()) all.push_back(config::ToText(one));
    return all;
  }

  Mesh mesh_;
};

TEST_F(PodSlicesTest, APodWithoutContainersHasNothingThatAnswers) {
  Apply(StrCat(kService, Pod("a", Running("10.8.0.1"), ", nodeName: node-1")));
  EXPECT_THAT(Endpoints(), IsEmpty());
  ASSERT_EQ(Problems().size(), 1u);
  EXPECT_THAT(Problems()[0], HasSubstr("a (no containers)"));
  Apply(Pod("a", Running("10.8.0.1")));
  EXPECT_THAT(Endpoints(), testing::SizeIs(1));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(PodSlicesTest, AServiceHasThePodsThatItsSelectorPicks) {
  Apply(StrCat(kService, Pod("a", Running("10.8.0.1")), Pod("b", Running("10.8.0.2")),
               Pod("other", Running("10.8.0.3"), "", "labels: {app: other}")));
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.1:8080", "10.8.0.2:8080"));
  EXPECT_THAT(Problems(), IsEmpty());
  const auto endpoints = mesh_.snapshot()->endpoints->Find("web.shop.svc.cluster.local", "shop");
  EXPECT_THAT(endpoints->service_accounts, ElementsAre("spiffe://cluster.local/ns/shop/sa/web-account"))
      << "they are the Pods', with their identity";
}

TEST_F(PodSlicesTest, TheyFollowServicesAndPods) {
  Apply(kService);
  EXPECT_THAT(Endpoints(), IsEmpty());
  Apply(Pod("a", Running("10.8.0.1")));
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.1:8080"));
  Apply(Pod("b", Running("10.8.0.2")));
  Apply(Pod("a", Running("10.8.0.1"), "", "labels: {app: other}"));
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.2:8080"));
  Apply(
      "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {clusterIP: 10.9.0.1, "
      "selector: {app: other}, ports: [{name: http, port: 80}]}}");
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.1:80"));
  Apply(
      "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {clusterIP: 10.9.0.1, "
      "ports: [{name: http, port: 80}]}}");
  EXPECT_THAT(Endpoints(), IsEmpty()) << "whose it is, is said by nobody";
  Apply(kService);
  Apply(Pod("b", ""), /*gone=*/true);
  EXPECT_THAT(Endpoints(), IsEmpty());
}

TEST_F(PodSlicesTest, WhatIsWrittenIsAllThatCounts) {
  Apply(StrCat(kService, Pod("a", Running("10.8.0.1")), "---\n", kSlice));
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.9:81"));
  Apply(kSlice, /*gone=*/true);
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.1:8080"));
  Apply(kSlice);
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.9:81"));
  Apply(
      "{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop}, subsets: [{addresses: "
      "[{ip: 10.8.0.7}], ports: [{name: http, port: 82}]}]}");
  Apply(kSlice, /*gone=*/true);
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.7:82")) << "Endpoints are as good";
}

TEST_F(PodSlicesTest, PodsThatAreNotReadyEndedOrGoingAreNotCalled) {
  Apply(StrCat(
      kService, Pod("ended", "phase: Succeeded, podIP: 10.8.0.1"),
      Pod("failed", "phase: Failed, podIP: 10.8.0.2"), Pod("starts", Running("10.8.0.3", "False")),
      Pod("goes", Running("10.8.0.4"), "", "deletionTimestamp: '2026-01-01T00:00:00Z', labels: {app: web}"),
      Pod("serves", Running("10.8.0.5"))));
  EXPECT_THAT(Endpoints(),
              ElementsAre("10.8.0.4:8080 terminating", "10.8.0.5:8080", "10.8.0.3:8080 unhealthy"))
      << "health is said as a controller would, and decides";
  EXPECT_THAT(Problems(), IsEmpty()) << "some can be called";
}

TEST_F(PodSlicesTest, NotReadyOnesAreCalledWhereTheServiceSaysSo) {
  std::string service(kService);
  service.insert(service.find("  clusterIP"), "  publishNotReadyAddresses: true\n");
  Apply(StrCat(service, Pod("starts", Running("10.8.0.3", "False"))));
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.3:8080"));
}

TEST_F(PodSlicesTest, APortsNameIsEachPodsOwnNumber) {
  Apply(
      StrCat("{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {clusterIP: "
             "10.9.0.1, selector: {app: web}, ports: [{name: http, port: 80, targetPort: main}, "
             "{name: dns, port: 53, protocol: UDP, targetPort: names}]}}\n",
             Pod("a", Running("10.8.0.1"),
                 ", containers: [{name: c, ports: [{name: main, containerPort: 8080}, "
                 "{name: names, containerPort: 5353, protocol: UDP}]}]"),
             Pod("b", Running("10.8.0.2"),
                 ", containers: [{name: c, ports: [{name: main, containerPort: 9090}, "
                 "{name: names, containerPort: 5354}]}]")));
  EXPECT_THAT(Endpoints(), testing::UnorderedElementsAre("10.8.0.1:8080", "10.8.0.1:5353", "10.8.0.2:9090"))
      << "a port of TCP is none of UDP";
  EXPECT_THAT(Problems(), IsEmpty());
  Apply(Pod("a", ""), /*gone=*/true);
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.2:9090"));
  EXPECT_THAT(Problems(),
              ElementsAre(HasSubstr("spec.ports[1].targetPort: no container of the Pods that match "
                                    "the selector has a port \"names\" of UDP (no-endpoints)")));
}

TEST_F(PodSlicesTest, PodsThatCannotBeCalledAreAWarning) {
  Apply(StrCat(kService, Pod("a", ""), Pod("b", Running("10.8.0.2", "False"))));
  EXPECT_THAT(
      Problems(),
      ElementsAre("mesh/web.yaml:2: warning: Service shop/web: spec.selector: 2 Pods match the selector "
                  "and none can be called: a (no address), b (not ready) (no-endpoints)"));
  Apply(Pod("b", Running("10.8.0.2")));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(PodSlicesTest, OfWhatFamilyAnAddressIsTheServiceSays) {
  const std::string both = "podIPs: [{ip: 10.8.0.1}, {ip: 'fd00::1'}], ";
  Apply(
      StrCat("{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {clusterIP: "
             "'fd00::9', ipFamilies: [IPv6], selector: {app: web}, ports: [{name: http, port: 80}]}}\n",
             Pod("a", both + Running("10.8.0.1")), Pod("b", Running("10.8.0.2"))));
  EXPECT_THAT(Endpoints(), ElementsAre("fd00::1:80"));
  Apply(Pod("a", ""), /*gone=*/true);
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("b (no address of the Service's family)")));
}

TEST_F(PodSlicesTest, HeadlessServicesHaveThemAndOtherNamesHaveNot) {
  Apply(StrCat(
      "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {clusterIP: None, "
      "selector: {app: web}, ports: [{name: http, port: 80}]}}\n---\n"
      "{apiVersion: v1, kind: Service, metadata: {name: alias, namespace: shop}, spec: {type: "
      "ExternalName, externalName: example.com, selector: {app: web}, ports: [{port: 80}]}}\n",
      Pod("a", Running("10.8.0.1"))));
  EXPECT_THAT(Endpoints(), ElementsAre("10.8.0.1:80"));
  EXPECT_THAT(Endpoints("alias.shop.svc.cluster.local"), testing::Not(testing::Contains("10.8.0.1:80")));
}

// A change costs its own size: 500 Services of one namespace, each with five Pods, all with a label in
// common.
TEST_F(PodSlicesTest, AChangeOfOnePodIsCheap) {
  std::string all;
  for (int i = 0; i < 500; ++i) {
    StrAppend(&all, "---\n{apiVersion: v1, kind: Service, metadata: {name: s", i,
              ", namespace: shop}, spec: {clusterIP: 10.9.", i / 250, ".", i % 250 + 1,
              ", selector: {all: x, app: s", i, "}, ports: [{name: http, port: 80}]}}\n");
    for (int j = 0; j < 5; ++j) {
      StrAppend(&all, Pod(StrCat("p", i, "-", j), Running(StrCat("10.", 20 + j, ".", i / 250, ".", i % 250)),
                          "", StrCat("labels: {all: x, app: s", i, "}")));
    }
  }
  Apply(all);
  ASSERT_EQ(Endpoints("s499.shop.svc.cluster.local").size(), 5u);
  const auto derivation = NewPodSlicesDerivation();
  std::vector<config::ObjectChange> changes;
  for (const config::Kind kind : {config::Kind::kService, config::Kind::kPod}) {
    for (const auto& [name, object] : mesh_.written().All(kind)) changes.push_back({KeyOf(*object), object});
  }
  EXPECT_EQ(derivation->Apply(mesh_.written(), changes, nullptr).objects.size(), 500u);
  const config::ConfigPtr pod = mesh_.written().Find(config::Kind::kPod, "shop", "p7-3");
  const std::vector<config::ObjectChange> one = {{KeyOf(*pod), pod}};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(derivation->Apply(mesh_.written(), one, nullptr).objects.size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << "a hundred changes";
}

}  // namespace
}  // namespace fairlead::state
