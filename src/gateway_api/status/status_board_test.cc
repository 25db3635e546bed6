#include "gateway_api/status/status_board.h"

#include <gmock/gmock.h>

#include <string>

#include "base/strings.h"
#include "gateway_api/status/test_board.h"
#include "gateway_api/test_script.h"

namespace fairlead::gateway_api {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string ClassOf(std::string_view name, std::string_view controller = "istio.io/gateway-controller") {
  return StrCat("apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: ", name,
                "}\nspec: {controllerName: ", controller, "}\n---\n");
}
std::string Gateway(std::string_view name) {
  return StrCat(
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: ", name,
      ", namespace: shop}\nspec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: "
      "HTTP}]}\n---\n");
}
std::string Route(std::string_view name, std::string_view gateway, std::string_view service = "web") {
  return StrCat("apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: ", name,
                ", namespace: shop}\nspec: {parentRefs: [{name: ", gateway,
                "}], rules: [{backendRefs: [{name: ", service, ", port: 80}]}]}\n---\n");
}
std::string Service(std::string_view name) {
  return StrCat("apiVersion: v1\nkind: Service\nmetadata: {name: ", name,
                ", namespace: shop}\nspec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}\n---\n");
}
std::string Slice(std::string_view service, std::string_view address) {
  return StrCat("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: ", service,
                "-1, namespace: shop, labels: {kubernetes.io/service-name: ", service,
                "}}\naddressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [",
                address, "]}]\n---\n");
}
std::string Entry(std::string_view name, int day) {
  return StrCat("apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: ", name,
                ", namespace: shop, creationTimestamp: '2026-01-0", day, "T00:00:00Z'}\nspec: {hosts: [",
                name,
                ".example], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}\n---\n");
}

// Beside those of the Gateway API's script: what their statuses depend on besides, and the other kinds.
std::string AnyManifest(Script* script) {
  const std::string name(1, static_cast<char>('a' + script->Dice(2)));
  const std::string ns = script->Dice(2) == 0 ? "one" : "two";
  const auto meta = [&](std::string_view more = "") {
    return StrCat("metadata: {name: ", name, ", namespace: ", ns, more, "}\n");
  };
  switch (script->Dice(16)) {
    case 0:
      return StrCat("apiVersion: v1\nkind: Service\nmetadata: {name: ", name, "-istio, namespace: ", ns,
                    "}\nspec: {type: LoadBalancer, clusterIP: 10.0.0.1, ports: [{name: http, port: ",
                    80 + script->Dice(2), "}]}\nstatus: {loadBalancer: {ingress: [{ip: 1.2.3.",
                    script->Dice(3), "}]}}\n");
    case 1:
      return StrCat(
          "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: ", name,
          "-istio-1, namespace: ", ns, ", labels: {kubernetes.io/service-name: ", name,
          "-istio}}\naddressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.0.",
          1 + script->Dice(3), "]}]\n");
    case 2:
      return StrCat("apiVersion: networking.istio.io/v1\nkind: ServiceEntry\n",
                    meta(StrCat(", creationTimestamp: '2026-01-0", 1 + script->Dice(5), "T00:00:00Z'")),
                    "spec: {hosts: [", name, ".", ns,
                    ".example], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}\n");
    case 3:
      return StrCat("apiVersion: networking.k8s.io/v1\nkind: Ingress\n", meta(),
                    "spec: {ingressClassName: ", name, "}\n");
    case 4:
      return StrCat("apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: ", name,
                    "}\nspec: {controller: ", script->Dice(2) == 0 ? "istio.io/ingress-controller" : "other",
                    "}\n");
    case 5:
      return StrCat(
          "apiVersion: v1\nkind: Service\nmetadata: {name: istio-ingressgateway, namespace: istio-system}\n",
          "spec: {clusterIP: 10.0.0.1, ports: [{port: 80}], externalIPs: [9.9.9.", script->Dice(3), "]}\n");
    case 6:
      return StrCat("apiVersion: v1\nkind: Namespace\nmetadata: {name: ", ns,
                    ", labels: {istio.io/rev: ", script->Dice(2) == 0 ? "default" : "canary", "}}\n");
    case 7:
      return StrCat("apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\n", meta(),
                    "spec: {selector: {matchLabels: {app: x}}, targetPorts: [{number: 8000}], "
                    "endpointPickerRef: {name: ",
                    name, ", port: {number: 9002}}}\n");
    case 8:
      return StrCat("apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n", meta(),
                    "spec: {parentRefs: [{name: ", name,
                    "}], rules: [{backendRefs: [{group: inference.networking.k8s.io, "
                    "kind: InferencePool, name: ",
                    name, "}]}]}\n");
    default:
      return script->Manifest();
  }
}

class Boards : public testing::TestWithParam<uint32_t> {};

TEST_P(Boards, SayWhatIsSaidOfTheWholeMesh) {
  Script script(GetParam());
  TestBoard test;
  size_t said = 0;
  for (int step = 0; step < 200; ++step) {
    for (int left = 1 + script.Dice(3); left > 0; --left)
      test.Apply(AnyManifest(&script), script.Dice(4) == 0);
    if (script.Dice(20) == 0)
      test.SetMeshConfig(script.Dice(2) == 0 ? "{ingressService: istio-ingressgateway}"
                                             : "{ingressService: other}");
    if (script.Dice(3) == 0) continue;  // asked after several publications
    const auto texts = test.Texts();
    ASSERT_EQ(texts, test.FreshTexts()) << "step " << step;
    said += texts.size();
  }
  EXPECT_GT(said, 500u) << "the script says nothing";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Boards, testing::Range(1u, 9u));

TEST(StatusBoardTest, WhenATagMovesStatusesAreAnotherRevisions) {
  TestBoard test;
  test.Apply(R"(
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: plain, namespace: shop}
spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: tagged, namespace: shop, labels: {istio.io/rev: prod}}
spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}
)");
  const auto names = [&test] {
    std::string all;
    for (const auto& [key, status] : test.board().Current()) StrAppend(&all, key.name.str(), " ");
    return all;
  };
  EXPECT_EQ(names(), "plain ");
  test.board().SetOwnRevisions({"", "default", "prod"});
  EXPECT_EQ(names(), "plain tagged ");
  test.board().SetOwnRevisions({"prod"});
  EXPECT_EQ(names(), "tagged ");
}

// Counts the statuses that one change makes again.
class StatusCostTest : public testing::Test {
 protected:
  StatusCostTest() {
    std::string all = StrCat(Service("web"), Service("other"));
    for (int i = 0; i < 50; ++i) {
      StrAppend(&all, ClassOf(StrCat("c", i)), Gateway(StrCat("g", i)), Service(StrCat("g", i, "-istio")));
      for (int j = 0; j < 4; ++j) StrAppend(&all, Route(StrCat("r", i, "-", j), StrCat("g", i)));
    }
    test_.Apply(all);
    before_ = test_.Texts();
    EXPECT_EQ(before_.size(), 300u);
  }
  uint64_t MadeBy(std::string_view manifests, bool gone = false) {
    const uint64_t before = test_.board().made();
    test_.Apply(manifests, gone);
    EXPECT_EQ(test_.Texts(), test_.FreshTexts());
    return test_.board().made() - before;
  }
  TestBoard test_;
  std::map<std::string, std::string> before_;
};

TEST_F(StatusCostTest, IsThatOfTheChange) {
  EXPECT_EQ(MadeBy(Slice("web", "10.1.0.1")), 0u) << "no status says anything of it";
  EXPECT_EQ(MadeBy(Slice("g7-istio", "10.1.0.1")), 1u) << "its Gateway";
  EXPECT_EQ(MadeBy(Route("r7-0", "g8")), 3u) << "the route, and both Gateways";
  EXPECT_EQ(MadeBy(Route("r9-0", "g9", "nothing")), 2u) << "the route and its Gateway";
  EXPECT_EQ(MadeBy(ClassOf("c3", "other.example/controller")), 1u);
  EXPECT_EQ(MadeBy(Gateway("g5"), /*gone=*/true), 4u) << "its routes have no parent any more";
  EXPECT_EQ(MadeBy(Entry("new", 2)), 1u);
  EXPECT_EQ(MadeBy(Entry("newer", 3)), 1u);
  EXPECT_EQ(MadeBy(Entry("older", 1)), 3u) << "it is served first";
}

TEST_F(StatusCostTest, WhoAsksTwiceFindsWhatDiffers) {
  const Statuses before = test_.board().Current();
  test_.Apply(StrCat(Slice("g7-istio", "10.1.0.1"), ClassOf("c3", "other.example/controller")));
  std::vector<std::string> differing;
  test_.board().Current().ForEachDifference(
      before, [&](const StatusKey& key, const auto* /*was*/, const auto* is) {
        differing.push_back(StrCat(is == nullptr ? "-" : "", key.kind, " ", key.name.str()));
      });
  EXPECT_THAT(differing, testing::ElementsAre("Gateway g7", "-GatewayClass c3"));
}

TEST(StatusVerdicts, AreOfProxiesAndStayAsLongAsTheyAreTold) {
  TestBoard test({{"rejected", "AcceptedByProxies", "Rejected"}});
  test.Apply(StrCat(ClassOf("istio"), Gateway("g"), Route("r", "g"),
                    "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\n"
                    "metadata: {name: p, namespace: shop}\nspec: {}\n"));
  const auto verdict = [](config::Kind kind, std::string_view name, const std::string& message) {
    config::Diagnostic diagnostic;
    diagnostic.code = "rejected";
    diagnostic.object = config::ObjectKey{kind, "shop", name};
    diagnostic.message = message;
    return diagnostic;
  };
  test.Texts();
  const uint64_t before = test.board().made();
  test.board().SetVerdicts({verdict(config::Kind::kHttpRoute, "r", "no"),
                            verdict(config::Kind::kAuthorizationPolicy, "p", "never")});
  EXPECT_THAT(test.Texts()["HTTPRoute shop/r"], HasSubstr("\"reason\":\"Rejected\",\"message\":\"no\""));
  EXPECT_THAT(test.Texts()["AuthorizationPolicy shop/p"], HasSubstr("never"));
  EXPECT_EQ(test.board().made() - before, 2u);
  test.board().SetVerdicts({verdict(config::Kind::kHttpRoute, "r", "no")});
  EXPECT_FALSE(test.Texts().contains("AuthorizationPolicy shop/p"));
  EXPECT_EQ(test.board().made() - before, 3u) << "the other's is as it was";
  test.board().SetVerdicts({});
  EXPECT_THAT(test.Texts()["HTTPRoute shop/r"], Not(HasSubstr("Rejected")));
}

}  // namespace
}  // namespace fairlead::gateway_api
