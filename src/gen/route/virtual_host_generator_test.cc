#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/generator.h"
#include "gen/route/test_objects.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"

namespace fairlead::gen::route {
namespace {

using envoy::config::route::v3::RouteConfiguration;
using envoy::config::route::v3::VirtualHost;

class VirtualHosts : public testing::Test, protected TestClient {
 protected:
  VirtualHosts() {
    AddService(TestService("a.default.svc.cluster.local", "10.0.0.1"));
    AddService(TestService("*.example.com", ""));
    AddService(TestService("Big.org", "10.0.0.2", 8080));
    auto pods = TestService("pods.default.svc.cluster.local", "");
    pods->resolution = model::Resolution::kPassthrough;
    AddService(std::move(pods));
    virtual_services.back().push_back(TestVirtualService(
        "v",
        "hosts: 'a.default.svc.cluster.local' hosts: 'outside.com' hosts: '*.wild.com' http { match { uri { "
        "prefix: '/x' } } cors_policy { allow_origins { exact: 'o' } } fault { abort { http_status: 500 "
        "percentage { value: 1 } } } route { destination { host: 'b.com' } } }"));
    proxy.domain = "default.svc.cluster.local";
  }

  RouteConfiguration Configuration(const std::string& name) {
    RouteConfiguration routes;
    const std::vector<std::string> names = {name};
    google::protobuf::Any any;
    for (const auto& resource : GenerateFor(*routes_, snapshot, Scope(), &names)) {
      EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()) && any.UnpackTo(&routes));
    }
    return routes;
  }
  std::vector<cache::ResourcePtr> Ask(const std::vector<std::string>& names) {
    return GenerateFor(*generator_, snapshot, Scope(), &names);
  }
  // The bytes of the answer; nothing where there is no such host.
  std::string Answer(const std::string& name) {
    const auto made = Ask({name});
    EXPECT_EQ(made.size(), 1u);
    EXPECT_EQ(made[0]->name, name);
    return made[0]->any.Unpacked();
  }

  std::unique_ptr<Generator> routes_ = NewRouteGenerator();
  std::unique_ptr<Generator> generator_ = NewVirtualHostGenerator();
};

// What the answer is by the route configuration itself: one host for one, of a domain's host whole and of a
// wildcard's for the host alone.
std::string Expected(const std::string& name, const VirtualHost& of, const std::string& host) {
  VirtualHost answer = of;
  answer.clear_domains();
  bool exact = false;
  for (const std::string& domain : of.domains()) {
    if (domain.find('*') != std::string::npos) continue;
    answer.add_domains(domain);
    exact |= domain == host;
  }
  if (!exact) {
    answer.clear_domains();
    answer.add_domains(host);
    answer.set_name(StrCat(of.name(), "|", host));
  }
  return Encode(name, answer)->any.Unpacked();
}

TEST_F(VirtualHosts, AreThoseOfTheRouteConfigurationByteForByte) {
  int compared = 0;
  for (const std::string configuration : {"80", "8080", "9999", "a.default.svc.cluster.local:80"}) {
    const RouteConfiguration routes = Configuration(configuration);
    for (const VirtualHost& host : routes.virtual_hosts()) {
      for (const std::string& domain : host.domains()) {
        std::string asked = domain;
        if (domain == "*") asked = "nowhere.else";
        if (domain.starts_with("*.")) asked = "x" + domain.substr(1);
        const std::string name = StrCat(configuration, "/", AsciiLower(asked));
        EXPECT_EQ(Answer(name), Expected(name, host, AsciiLower(asked))) << name;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 15);
}

TEST_F(VirtualHosts, AreFoundWithoutThePort) {
  const std::string name = "80/a.default.svc.cluster.local:99";
  const RouteConfiguration routes = Configuration("80");
  for (const VirtualHost& host : routes.virtual_hosts()) {
    if (host.name() != "a.default.svc.cluster.local:80") continue;
    EXPECT_EQ(Answer(name), Expected(name, host, "a.default.svc.cluster.local:99"));
    return;
  }
  FAIL() << "no such host";
}

TEST_F(VirtualHosts, ThatDoNotExistAreAnsweredWithoutContent) {
  EXPECT_EQ(Answer("nonsense/a.com"), "") << "no such route configuration";
  EXPECT_EQ(Answer("80"), "") << "no host";
  EXPECT_EQ(Answer("b.com:80/b.com"), "") << "nothing listens there";
}

TEST_F(VirtualHosts, ManyAtOnceKeepTheirNames) {
  const auto made = Ask({"80/outside.com", "nonsense/none"});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0]->name, "80/outside.com");
  EXPECT_FALSE(made[0]->any.empty());
  EXPECT_TRUE(made[1]->any.empty());
}

}  // namespace
}  // namespace fairlead::gen::route
