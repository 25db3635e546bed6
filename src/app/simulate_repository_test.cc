#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/mesh_folder.h"
#include "base/strings.h"
#include "simulate/command/simulate_command.h"

// Simulations on a repository's own manifests, which have neither Pods nor addresses.
namespace fairlead::app {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kShop[] = R"(apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio-injection: enabled}}
---
apiVersion: v1
kind: Service
metadata: {name: reviews, namespace: shop}
spec: {selector: {app: reviews}, ports: [{name: http, port: 9080, targetPort: web}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: reviews-v1, namespace: shop}
spec:
  selector: {matchLabels: {app: reviews}}
  template:
    metadata: {labels: {app: reviews, version: v1}}
    spec:
      serviceAccountName: reviews
      containers: [{name: a, image: a, ports: [{name: web, containerPort: 8080}]}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec:
  schedule: "0 0 * * *"
  jobTemplate:
    spec:
      template:
        metadata: {labels: {app: nightly, sidecar.istio.io/inject: "false"}}
        spec: {restartPolicy: Never, containers: [{name: a, image: a}]}
---
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: off, namespace: shop}
  spec:
    replicas: 0
    selector: {matchLabels: {app: off}}
    serviceName: off
    template: {metadata: {labels: {app: off}}, spec: {containers: [{name: a, image: a}]}}
)";

constexpr char kRoutes[] = R"(apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: reviews, namespace: shop}
spec:
  hosts: [reviews]
  http:
  - match: [{uri: {prefix: /admin}}]
    name: admin
    directResponse: {status: 403}
  - route:
    - destination: {host: reviews}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: readers, namespace: shop}
spec:
  selector: {matchLabels: {app: reviews}}
  rules:
  - from: [{source: {principals: [nobody]}}]
  - to:
    - operation: {methods: [GET]}
)";

struct Printed {
  int status = 0;
  std::string out, error;
};

class SimulateRepository : public testing::Test {
 protected:
  SimulateRepository() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/shop.yaml") << kShop;
    std::ofstream(folder_ + "/routes.yaml") << kRoutes;
  }
  ~SimulateRepository() override { std::filesystem::remove_all(folder_); }

  Printed Call(const std::vector<std::string>& words) {
    std::vector<std::string> all = {"--configDir", folder_};
    all.insert(all.end(), words.begin(), words.end());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Printed printed;
    printed.status = simulate::RunSimulate(all, LoadMesh);
    printed.out = testing::internal::GetCapturedStdout();
    printed.error = testing::internal::GetCapturedStderr();
    return printed;
  }

  const std::string folder_ = StrCat(testing::TempDir(), "/repository-", getpid());
};

constexpr char kDeployedGateway[] = R"(apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: istio
  listeners: [{name: http, port: 80, protocol: HTTP, hostname: shop.example.com}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: site, namespace: shop}
spec:
  parentRefs: [{name: edge}]
  rules: [{backendRefs: [{name: reviews, port: 9080}]}]
)";

TEST_F(SimulateRepository, TheRouterOfAGatewayIsMadeUp) {
  std::ofstream(folder_ + "/gateway.yaml") << kDeployedGateway;
  const Printed printed = Call({"--proxy", "edge.shop", "--follow", "http://shop.example.com/"});
  EXPECT_THAT(printed.out, HasSubstr(" at the gateway to 198.18."));
  EXPECT_THAT(printed.out,
              HasSubstr(StrCat("made up from Gateway shop/edge, ", folder_, "/gateway.yaml:1\n")));
  EXPECT_THAT(printed.out, HasSubstr("outbound|9080||reviews.shop.svc.cluster.local\n"));
  EXPECT_EQ(printed.status, 0) << printed.error << printed.out;
  const Printed nobody = Call({"--proxy", "edge.shop", "http://other.example.com/"});
  EXPECT_EQ(nobody.status, 1) << nobody.out;
}

// Istio's own Gateways select pods of another chart, which a repository does not have.
TEST_F(SimulateRepository, TheRouterOfASelectorIsMadeUp) {
  std::ofstream(folder_ + "/gateway.yaml") << R"(apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: front, namespace: shop}
spec:
  selector: {istio: ingressgateway}
  servers: [{port: {number: 8080, name: http, protocol: HTTP}, hosts: ["*"]}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: front, namespace: shop}
spec: {hosts: ["*"], gateways: [front], http: [{route: [{destination: {host: reviews}}]}]}
)";
  const Printed printed = Call({"--proxy", "front.shop", "http://shop.example.com:8080/"});
  EXPECT_THAT(printed.out, HasSubstr("made up from Gateway shop/front, "));
  EXPECT_THAT(printed.out, HasSubstr("outbound|9080||reviews.shop.svc.cluster.local\n"));
  EXPECT_EQ(printed.status, 0) << printed.error << printed.out;
}

// A Service of the Gateway's selects its pods, whatever their labels.
TEST_F(SimulateRepository, ADeploymentIsAGatewaysBySelector) {
  std::string gateway = kDeployedGateway;
  gateway.replace(gateway.find("  listeners:"), 0, "  addresses: [{type: Hostname, value: entry}]\n");
  std::ofstream(folder_ + "/gateway.yaml") << gateway << R"(---
apiVersion: v1
kind: Service
metadata: {name: entry, namespace: shop}
spec: {selector: {app: entry}, ports: [{name: http, port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: entry, namespace: shop}
spec:
  selector: {matchLabels: {app: entry}}
  template: {metadata: {labels: {app: entry}}, spec: {containers: [{name: a, image: a}]}}
)";
  const Printed by_gateway = Call({"--proxy", "edge.shop", "http://shop.example.com/"});
  const Printed by_pod = Call({"--proxy", "entry.shop", "http://shop.example.com/"});
  EXPECT_EQ(by_gateway.status, 0) << by_gateway.error << by_gateway.out;
  EXPECT_THAT(by_gateway.out, HasSubstr(" at the gateway to 198.18."));
  EXPECT_EQ(by_gateway.out, by_pod.out);
}

TEST_F(SimulateRepository, APodWithAGatewaysNameThatIsNoRouter) {
  std::ofstream(folder_ + "/gateway.yaml") << kDeployedGateway << R"(---
apiVersion: v1
kind: Pod
metadata: {name: edge, namespace: shop, labels: {app: edge}}
spec: {containers: [{name: a, image: a}]}
status: {phase: Running, podIP: 10.0.0.9, podIPs: [{ip: 10.0.0.9}]}
)";
  const Printed printed = Call({"--proxy", "edge.shop", "http://reviews:9080/"});
  EXPECT_THAT(printed.out,
              HasSubstr("this is the Pod shop/edge, a sidecar; the Gateway of that name does not"));
}

TEST_F(SimulateRepository, WorkloadsAreMadeUpFromTemplates) {
  const Printed printed = Call({"--proxy", "nightly.shop", "--follow", "http://reviews:9080/"});
  EXPECT_EQ(printed.status, 0) << printed.error << printed.out;
  EXPECT_THAT(printed.out,
              HasSubstr(StrCat("made up from CronJob shop/nightly, ", folder_, "/shop.yaml:21\n")));
  EXPECT_THAT(printed.out, HasSubstr(StrCat("  198.18.0.1:8080  mutual TLS (SNI "
                                            "outbound_.9080_._.reviews.shop.svc.cluster.local)  made up from "
                                            "Deployment shop/reviews-v1, ",
                                            folder_, "/shop.yaml:10\n")));
  EXPECT_THAT(printed.out, HasSubstr("  198.18.0.1:8080  reviews-v1.shop: inbound|8080||\n"));
  EXPECT_THAT(printed.out,
              HasSubstr("there are no Pods of 2 templates of workloads: one of each is made up"));
  EXPECT_THAT(printed.out, HasSubstr("1 Services have no clusterIP"));
  const auto json =
      nlohmann::json::parse(Call({"--proxy", "nightly.shop", "-o", "json", "http://reviews:9080/"}).out);
  EXPECT_THAT(json["destinations"][0]["endpoints"][0]["madeUpFrom"].get<std::string>(),
              HasSubstr("Deployment shop/reviews-v1"));
}

TEST_F(SimulateRepository, PodsThatThereAreCount) {
  std::ofstream(folder_ + "/pods.yaml") << R"(
apiVersion: v1
kind: Pod
metadata: {name: reviews-v1-abc, namespace: shop, labels: {app: reviews, version: v1}}
status: {phase: Running, podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}]}
)";
  const Printed printed = Call({"--proxy", "nightly.shop", "http://reviews:9080/"});
  EXPECT_THAT(printed.out, Not(HasSubstr("Deployment"))) << "it has a Pod";
  EXPECT_EQ(Call({"--proxy", "reviews-v1.shop", "http://reviews:9080/"}).status, 2);
  EXPECT_THAT(Call({"--proxy", "nightlie.shop", "http://reviews:9080/"}).error,
              HasSubstr("no Pod, WorkloadEntry, Gateway with a Pod, or template of a workload nightlie.shop; "
                        "did you mean nightly.shop?"));
}

TEST_F(SimulateRepository, APortThatNobodyHasIsNoSuccess) {
  const Printed printed = Call({"--proxy", "nightly.shop", "http://reviews:80/"});
  EXPECT_EQ(printed.status, 1);
  EXPECT_THAT(printed.out, HasSubstr("end      reviews.shop has port 9080, not 80\n"));
  const auto json =
      nlohmann::json::parse(Call({"--proxy", "nightly.shop", "-o", "json", "http://reviews/"}).out);
  EXPECT_EQ(json["reached"], false);
  EXPECT_EQ(json["verdict"], "nobody");
}

TEST_F(SimulateRepository, AHostThatNobodyHasIsNoSuccess) {
  const Printed misspelt = Call({"--proxy", "nightly.shop", "http://revews:9080/"});
  EXPECT_EQ(misspelt.status, 1);
  EXPECT_THAT(misspelt.out, HasSubstr("nobody has the host revews; did you mean reviews?"));
  EXPECT_EQ(Call({"--proxy", "nightly.shop", "http://absent.shop.svc.cluster.local:9080/"}).status, 1);
  EXPECT_EQ(Call({"--proxy", "nightly.shop", "tcp://www.example.com:9999"}).status, 0)
      << "the Internet may have it";
}

TEST_F(SimulateRepository, TheRuleThatMatchedHasItsLine) {
  const Printed printed = Call({"--proxy", "nightly.shop", "http://reviews:9080/"});
  EXPECT_THAT(printed.out, HasSubstr(StrCat("  VirtualService shop/reviews  ", folder_, "/routes.yaml:1\n",
                                            "    spec.http[1]  ", folder_, "/routes.yaml:10\n")));
  const Printed admin = Call({"--proxy", "nightly.shop", "http://reviews:9080/admin"});
  EXPECT_THAT(admin.out, HasSubstr(StrCat("    spec.http[0]  ", folder_, "/routes.yaml:7\n")));
  const Printed inbound =
      Call({"--proxy", "reviews-v1.shop", "--inbound", "--as", "shop/x", "http://reviews:9080/"});
  EXPECT_EQ(inbound.status, 0) << inbound.out;
  EXPECT_THAT(inbound.out, HasSubstr(StrCat("    spec.rules[1]  ", folder_, "/routes.yaml:20\n")));
}

TEST_F(SimulateRepository, TlsThatPassesThroughIsTls) {
  std::ofstream(folder_ + "/store.yaml") << R"(
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: store, namespace: shop}
spec:
  hosts: [store.example.com]
  addresses: [10.9.0.1]
  ports: [{name: tls, number: 443, protocol: TLS}]
  resolution: STATIC
  endpoints: [{address: 10.9.0.2}]
)";
  const Printed printed = Call({"--proxy", "nightly.shop", "https://store.example.com/"});
  EXPECT_EQ(printed.status, 0) << printed.out;
  EXPECT_THAT(printed.out, HasSubstr("  10.9.0.2:443  the client's own TLS (SNI store.example.com)\n"));
}

}  // namespace
}  // namespace fairlead::app
