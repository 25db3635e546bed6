#include "simulate/command/simulate_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/mesh_folder.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

using testing::HasSubstr;

struct Printed {
  int status = 0;
  std::string out, error;
};

// Asks about a workload of the demo's mesh.
Printed Simulate(const std::vector<std::string>& arguments) {
  std::vector<std::string> all;
  if (arguments.front() != "--configDir") all = {"--configDir", "examples/bookinfo"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Printed printed;
  printed.status = simulate::RunSimulate(all, LoadMesh);
  printed.out = testing::internal::GetCapturedStdout();
  printed.error = testing::internal::GetCapturedStderr();
  return printed;
}

TEST(SimulateCommand, SaysWhereARequestGoesAndWhy) {
  const Printed printed = Simulate({"--proxy", "client.bookshop", "http://reviews:9080/"});
  EXPECT_EQ(printed.status, 0) << printed.error;
  EXPECT_THAT(printed.out, HasSubstr("end      outbound|9080|v1|reviews.bookshop.svc.cluster.local 75%, "
                                     "outbound|9080|v2|reviews.bookshop.svc.cluster.local 25%\n"));
  EXPECT_THAT(printed.out, HasSubstr("    10.77.1.14:9080  mutual TLS (SNI "
                                     "outbound_.9080_.v2_.reviews.bookshop.svc.cluster.local)\n"));
  EXPECT_THAT(printed.out,
              HasSubstr("  VirtualService bookshop/reviews  examples/bookinfo/reviews-split.yaml:2\n"));
}

TEST(SimulateCommand, Json) {
  const Printed printed = Simulate(
      {"--proxy", "client.bookshop", "-H", "x-tester: yes", "-o", "json", "http://reviews:9080/a?b"});
  EXPECT_EQ(printed.status, 0) << printed.error;
  const auto json = nlohmann::json::parse(printed.out);
  EXPECT_EQ(json["reached"], true);
  EXPECT_EQ(json["verdict"], "http");
  EXPECT_EQ(json["summary"], "outbound|9080|v2|reviews.bookshop.svc.cluster.local");
  EXPECT_EQ(json["request"]["path"], "/a?b");
  EXPECT_EQ(json["request"]["destination"], "10.77.100.13:9080");
  ASSERT_EQ(json["destinations"].size(), 1u);
  EXPECT_EQ(json["destinations"][0]["endpoints"][0]["address"], "10.77.1.14:9080");
  EXPECT_EQ(json["objects"][0]["kind"], "VirtualService");
  EXPECT_EQ(json["objects"][0]["line"], 2);
}

TEST(SimulateCommand, OneWhereNothingIsReached) {
  const Printed printed =
      Simulate({"--proxy", "client.bookshop", "--destination", "10.9.9.9:15001", "tcp://x:1"});
  EXPECT_EQ(printed.status, 1) << printed.error;
  EXPECT_THAT(printed.out, HasSubstr("closed: no endpoint of BlackHoleCluster"));
}

TEST(SimulateCommand, TwoForWrongCalls) {
  const std::vector<std::vector<std::string>> wrong = {
      {"http://reviews:9080/"},
      {"--proxy", "nobody.bookshop", "http://reviews:9080/"},
      {"--proxy", "client", "http://reviews:9080/"},
      {"--proxy", "client.bookshop"},
      {"--proxy", "client.bookshop", "ftp://reviews/"},
      {"--proxy", "client.bookshop", "http://reviews:port/"},
      {"--proxy", "client.bookshop", "tcp://reviews"},
      {"--proxy", "client.bookshop", "-H", "no colon", "http://reviews/"},
      {"--proxy", "client.bookshop", "-H", "@odd: value", "http://reviews/"},
      {"--proxy", "client.bookshop", "--source", "here", "http://reviews/"},
      {"--proxy", "client.bookshop", "--node", "a", "http://reviews/"},
      {"--node", "/nonexistent/node.json", "http://reviews/"},
      {"--meshConfig", "/nonexistent/mesh", "--proxy", "client.bookshop", "http://reviews/"},
      {"--configDir", "/nonexistent", "--proxy", "client.bookshop", "http://reviews/"},
  };
  for (const auto& arguments : wrong) {
    const Printed printed = Simulate(arguments);
    EXPECT_EQ(printed.status, 2) << arguments.back() << printed.out;
    EXPECT_FALSE(printed.error.empty()) << arguments.back();
  }
}

constexpr char kStrictServer[] = R"(
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: shop, labels: {app: client}}
status: {phase: Running, podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}]}
---
apiVersion: v1
kind: Pod
metadata: {name: api-1, namespace: shop, labels: {app: api, security.istio.io/tlsMode: istio}}
status: {phase: Running, podIP: 10.0.0.2, podIPs: [{ip: 10.0.0.2}]}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: shop}
spec: {clusterIP: 10.1.0.2, selector: {app: api}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: api-1, namespace: shop, labels: {kubernetes.io/service-name: api}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.2], conditions: {ready: true}, targetRef: {kind: Pod, name: api-1, namespace: shop}}]
ports: [{name: http, port: 8080}]
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: strict, namespace: shop}
spec: {mtls: {mode: STRICT}}
)";
constexpr char kPlaintextClients[] = R"(
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: api, namespace: shop}
spec: {host: api, trafficPolicy: {tls: {mode: DISABLE}}}
)";

// The client's side alone sees nothing wrong; the server's does.
TEST(SimulateCommand, FollowsToTheServersSidecar) {
  const auto folder = std::filesystem::temp_directory_path() / StrCat("fairlead-follow-", getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "mesh.yaml") << kStrictServer;
  const std::vector<std::string> call = {"--configDir", folder.string(), "--proxy", "client.shop",
                                         "http://api/"};
  auto follow = call;
  follow.insert(follow.begin() + 4, "--follow");
  const Printed agreed = Simulate(follow);
  std::ofstream(folder / "rule.yaml") << kPlaintextClients;
  const Printed alone = Simulate(call);
  const Printed refused = Simulate(follow);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(agreed.status, 0) << agreed.error;
  EXPECT_THAT(agreed.out, HasSubstr("  10.0.0.2:8080  api-1.shop: inbound|8080||\n"));
  EXPECT_EQ(alone.status, 0) << alone.error;
  EXPECT_EQ(refused.status, 1) << refused.error;
  EXPECT_THAT(refused.out,
              HasSubstr("  10.0.0.2:8080  api-1.shop: closed: no filter chain of listener virtualInbound "
                        "matches\n"));
}

constexpr char kGateway[] = R"(
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: front, namespace: edge}
spec:
  selector: {gateway: front}
  servers:
  - port: {number: 80, name: http, protocol: HTTP}
    hosts: [a.example.com]
    tls: {httpsRedirect: true}
  - port: {number: 443, name: a, protocol: HTTPS}
    hosts: [a.example.com]
    tls: {mode: SIMPLE, credentialName: a}
  - port: {number: 443, name: b, protocol: HTTPS}
    hosts: [b.example.com]
    tls: {mode: MUTUAL, credentialName: b}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: sites, namespace: edge}
spec:
  hosts: [a.example.com, b.example.com]
  gateways: [front]
  http:
  - route: [{destination: {host: api.shop.svc.cluster.local, port: {number: 80}}}]
---
apiVersion: v1
kind: Service
metadata: {name: front, namespace: edge}
spec:
  clusterIP: 10.1.0.3
  selector: {gateway: front}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: https, port: 443, targetPort: 8443}]
---
apiVersion: v1
kind: Pod
metadata: {name: front-1, namespace: edge, labels: {gateway: front}}
status: {phase: Running, podIP: 10.0.0.3, podIPs: [{ip: 10.0.0.3}]}
)";

TEST(SimulateCommand, AGatewayByItsNameOrItsPods) {
  const auto folder = std::filesystem::temp_directory_path() / StrCat("fairlead-gateway-", getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "mesh.yaml") << kStrictServer;
  std::ofstream(folder / "gateway.yaml") << kGateway;
  const auto ask = [&](std::vector<std::string> call) {
    call.insert(call.begin(), {"--configDir", folder.string(), "--proxy"});
    return Simulate(call);
  };
  const Printed by_pod = ask({"front-1.edge", "https://a.example.com/x"});
  const Printed by_gateway = ask({"front.edge", "https://a.example.com/x"});
  const Printed plain = ask({"front.edge", "http://a.example.com/x"});
  const Printed alone = ask({"front.edge", "https://b.example.com/"});
  const Printed mutual = ask({"front.edge", "--mtls", "https://b.example.com/"});
  const Printed unknown = ask({"front.edge", "https://c.example.com/"});
  const Printed nobody = ask({"back.edge", "https://c.example.com/"});
  std::filesystem::remove_all(folder);
  EXPECT_EQ(by_pod.status, 0) << by_pod.error;
  EXPECT_THAT(by_pod.out, HasSubstr("GET a.example.com/x over TLS at the gateway to 10.0.0.3:8443\n"));
  EXPECT_THAT(by_pod.out, HasSubstr("server names        a.example.com\n"));
  EXPECT_THAT(by_pod.out, HasSubstr("outbound|80||api.shop.svc.cluster.local\n"));
  EXPECT_THAT(by_pod.out, HasSubstr("  Gateway edge/front  "));
  EXPECT_EQ(by_gateway.out, by_pod.out);
  EXPECT_THAT(plain.out, HasSubstr("https://a.example.com/x")) << "redirected";
  EXPECT_EQ(alone.status, 1);
  EXPECT_THAT(alone.out, HasSubstr("filter chain b.example.com requires a client certificate\n"));
  EXPECT_EQ(mutual.status, 0) << mutual.out;
  EXPECT_THAT(unknown.out, HasSubstr("no filter chain of listener 0.0.0.0_8443 matches"));
  EXPECT_THAT(nobody.error, HasSubstr("Gateway with a Pod, or template of a workload"));
}

constexpr char kOnlyTheGateway[] = R"(
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: only-front, namespace: shop}
spec:
  rules:
  - from: [{source: {principals: [cluster.local/ns/edge/sa/front]}}]
)";

// The server sees the router's certificate, not that of whoever called the router.
TEST(SimulateCommand, ARouterShowsItsOwnIdentityToServers) {
  const auto folder = std::filesystem::temp_directory_path() / StrCat("fairlead-second-hop-", getpid());
  std::filesystem::create_directories(folder);
  std::string gateway = kGateway;
  gateway.replace(gateway.rfind("status:"), 0, "spec: {serviceAccountName: front}\n");
  std::ofstream(folder / "mesh.yaml") << kStrictServer;
  std::ofstream(folder / "gateway.yaml") << gateway;
  std::ofstream(folder / "policy.yaml") << kOnlyTheGateway;
  const auto ask = [&](const std::vector<std::string>& call) {
    std::vector<std::string> words = {"--configDir", folder.string(), "--follow"};
    words.insert(words.end(), call.begin(), call.end());
    return Simulate(words);
  };
  const Printed anonymous = ask({"--proxy", "front.edge", "https://a.example.com/"});
  const Printed named = ask({"--proxy", "front.edge", "--as", "other/somebody", "https://a.example.com/"});
  const Printed sidecar = ask({"--proxy", "client.shop", "http://api/"});
  std::filesystem::remove_all(folder);
  EXPECT_EQ(anonymous.status, 0) << anonymous.error << anonymous.out;
  EXPECT_THAT(anonymous.out, HasSubstr("  10.0.0.2:8080  api-1.shop: inbound|8080||\n"));
  EXPECT_EQ(named.status, 0) << named.out;
  EXPECT_EQ(sidecar.status, 1) << sidecar.out;
}

TEST(SimulateCommand, SaysThatThereIsNobodyToFollowTo) {
  const Printed printed =
      Simulate({"--proxy", "client.bookshop", "--follow", "http://publisher.example.com/"});
  EXPECT_EQ(printed.status, 0) << printed.error;
  EXPECT_THAT(printed.out, HasSubstr("no endpoint is a workload with a sidecar"));
}

TEST(SimulateCommand, ANodeOfABootstrap) {
  const auto file = std::filesystem::temp_directory_path() / StrCat("fairlead-node-", getpid(), ".json");
  std::ofstream(file) << R"({"node": {"id": "sidecar~10.77.9.9~new-1.bookshop~bookshop.svc.cluster.local",
    "metadata": {"NAMESPACE": "bookshop", "LABELS": {"app": "new"}}}, "admin": {}})";
  const Printed by_file = Simulate({"--node", file.string(), "http://reviews:9080/"});
  const Printed by_id = Simulate({"--proxy", "sidecar~10.77.9.9~new-1.bookshop~bookshop.svc.cluster.local",
                                  "--label", "app=new", "http://reviews:9080/"});
  std::filesystem::remove(file);
  EXPECT_EQ(by_file.status, 0) << by_file.error;
  EXPECT_EQ(by_file.out, by_id.out);
}

}  // namespace
}  // namespace fairlead::app
