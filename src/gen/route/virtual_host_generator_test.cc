#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/generator.h"

namespace fairlead::gen::route {
namespace {

using envoy::config::route::v3::RouteConfiguration;
using envoy::config::route::v3::VirtualHost;
using testing::ElementsAre;

// One route configuration, "inbound/80".
class Routes : public Generator {
 public:
  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    if (*request.names != std::vector<std::string>{"inbound/80"}) return {};
    RouteConfiguration routes;
    Add(&routes, "a", {"a.com", "a.com:80", "a"});
    Add(&routes, "wide", {"*.example.com"});
    Add(&routes, "wider", {"*.com"});
    Add(&routes, "front", {"www.*"});
    Add(&routes, "pods", {"pods.svc", "*.pods.svc"});
    routes.set_ignore_port_in_host_matching(ignore_port);
    if (catch_all) Add(&routes, "rest", {"*"});
    return {Encode("inbound/80", routes)};
  }
  void Sweep() override {}
  bool catch_all = false, ignore_port = false;

 private:
  static void Add(RouteConfiguration* routes, const std::string& name,
                  const std::vector<std::string>& domains) {
    VirtualHost* host = routes->add_virtual_hosts();
    host->set_name(name);
    for (const std::string& domain : domains) host->add_domains(domain);
  }
};

class VirtualHosts : public testing::Test {
 protected:
  cache::ResourcePtr Resource(const std::string& name) {
    const std::vector<std::string> names = {name};
    const auto made = generator_->Generate({snapshot_, scope_, &names});
    EXPECT_EQ(made.size(), 1u);
    EXPECT_EQ(made[0]->name, name);
    return made[0];
  }
  // "name: domains"; "" where there is no such host.
  std::string Host(const std::string& name) {
    google::protobuf::Any any;
    VirtualHost host;
    const cache::ResourcePtr resource = Resource(name);
    if (resource->any.empty()) return "";
    EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()) && any.UnpackTo(&host));
    return StrCat(host.name(), ": ", Join(host.domains(), " "));
  }

  Routes routes_;
  mesh::MeshSnapshot snapshot_;
  mesh::ProxyScope scope_;
  std::unique_ptr<Generator> generator_ = NewVirtualHostGenerator(&routes_);
};

TEST_F(VirtualHosts, AreFoundByDomainAsEnvoyFindsThem) {
  EXPECT_EQ(Host("inbound/80/a.com"), "a: a.com a.com:80 a");
  EXPECT_EQ(Host("inbound/80/A.com:80"), "a: a.com a.com:80 a");
  EXPECT_EQ(Host("inbound/80/pods.svc"), "pods: pods.svc");
}

TEST_F(VirtualHosts, OfAWildcardServeTheHostThatWasAskedForAlone) {
  EXPECT_EQ(Host("inbound/80/x.example.com"), "wide|x.example.com: x.example.com");
  EXPECT_EQ(Host("inbound/80/www.b.com"), "wider|www.b.com: www.b.com") << "a suffix beats a prefix";
  EXPECT_EQ(Host("inbound/80/www.b.org"), "front|www.b.org: www.b.org");
  EXPECT_EQ(Host("inbound/80/p-0.pods.svc"), "pods|p-0.pods.svc: p-0.pods.svc");
}

TEST_F(VirtualHosts, ThatDoNotExistAreAnsweredWithoutContent) {
  EXPECT_EQ(Host("inbound/80/nowhere"), "");
  EXPECT_EQ(Host("9080/a.com"), "") << "another route configuration";
  EXPECT_EQ(Host("inbound"), "");
  routes_.catch_all = true;
  EXPECT_EQ(Host("inbound/80/nowhere"), "rest|nowhere: nowhere");
}

TEST_F(VirtualHosts, AreFoundWithoutThePortWhereItIsIgnored) {
  EXPECT_EQ(Host("inbound/80/pods.svc:99"), "");
  routes_.ignore_port = true;
  EXPECT_EQ(Host("inbound/80/pods.svc:99"), "pods|pods.svc:99: pods.svc:99");
  EXPECT_EQ(Host("inbound/80/pods.svc"), "pods: pods.svc");
  EXPECT_EQ(Host("inbound/80/2001:db8::1"), "") << "no port";
}

TEST_F(VirtualHosts, ManyAtOnceKeepTheirNames) {
  const std::vector<std::string> names = {"inbound/80/a", "inbound/80/none"};
  const auto made = generator_->Generate({snapshot_, scope_, &names});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_FALSE(made[0]->any.empty());
  EXPECT_TRUE(made[1]->any.empty());
}

}  // namespace
}  // namespace fairlead::gen::route
