#include "gen/route/host_index.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/strings.h"
#include "envoy/config/route/v3/route_components.pb.h"

namespace fairlead::gen::route {
namespace {

class HostIndexTest : public testing::Test {
 protected:
  HostIndexTest() {
    Add("a", {"a.com", "a.com:80", "A"});
    Add("wide", {"*.example.com"});
    Add("wider", {"*.com"});
    Add("front", {"www.*"});
    Add("longer front", {"www.c*"});
    Add("pods", {"pods.svc", "*.pods.svc"});
    Add("late", {"a.com", "*.com", "www.*"});
  }

  void Add(const std::string& name, const std::vector<std::string>& domains) {
    envoy::config::route::v3::VirtualHost routes;
    routes.add_routes()->set_name(name);
    hosts_.push_back({name, domains, std::make_shared<const std::string>(routes.SerializeAsString()), ""});
  }
  // "name: domains"; "" where there is no such host.
  std::string Host(const std::string& host) const {
    const std::optional<std::string> answer = HostIndex(hosts_, true, ignore_ports_).Answer(host);
    if (!answer) return "";
    envoy::config::route::v3::VirtualHost message;
    EXPECT_TRUE(message.ParseFromString(*answer));
    EXPECT_TRUE(message.name().starts_with(message.routes(0).name()));
    EXPECT_TRUE(message.include_request_attempt_count());
    return StrCat(message.name(), ": ", Join(message.domains(), " "));
  }

  VirtualHosts hosts_;
  bool ignore_ports_ = false;
};

TEST_F(HostIndexTest, FindsByDomainAsEnvoyDoes) {
  EXPECT_EQ(Host("a.com"), "a: a.com a.com:80 A") << "the first has the domain";
  EXPECT_EQ(Host("a.com:80"), "a: a.com a.com:80 A");
  EXPECT_EQ(Host("a"), "a: a.com a.com:80 A") << "whatever the capitals";
  EXPECT_EQ(Host("pods.svc"), "pods: pods.svc");
}

TEST_F(HostIndexTest, AWildcardServesTheHostThatWasAskedForAlone) {
  EXPECT_EQ(Host("x.example.com"), "wide|x.example.com: x.example.com");
  EXPECT_EQ(Host("www.b.com"), "wider|www.b.com: www.b.com") << "a suffix beats a prefix";
  EXPECT_EQ(Host("www.b.org"), "front|www.b.org: www.b.org");
  EXPECT_EQ(Host("www.c.org"), "longer front|www.c.org: www.c.org");
  EXPECT_EQ(Host("p-0.pods.svc"), "pods|p-0.pods.svc: p-0.pods.svc");
  EXPECT_EQ(Host(".com"), "") << "an asterisk stands for something";
  EXPECT_EQ(Host("www."), "");
}

TEST_F(HostIndexTest, WhatNoDomainFitsIsOfTheCatchAll) {
  EXPECT_EQ(Host("nowhere"), "");
  EXPECT_EQ(Host(""), "");
  Add("rest", {"*"});
  EXPECT_EQ(Host("nowhere"), "rest|nowhere: nowhere");
}

TEST_F(HostIndexTest, FindsWithoutThePortWhereItIsIgnored) {
  EXPECT_EQ(Host("pods.svc:99"), "");
  ignore_ports_ = true;
  EXPECT_EQ(Host("pods.svc:99"), "pods|pods.svc:99: pods.svc:99");
  EXPECT_EQ(Host("pods.svc"), "pods: pods.svc");
  EXPECT_EQ(Host("2001:db8::1"), "") << "no port";
}

}  // namespace
}  // namespace fairlead::gen::route
