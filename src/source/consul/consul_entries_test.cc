#include "source/consul/consul_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/platform/kept_view.h"

namespace fairlead::source {
namespace {

using istio::networking::v1alpha3::ServiceEntry;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

ConsulInstance Instance(const std::string& id, const std::string& address = "10.0.0.1", int port = 8080) {
  ConsulInstance instance;
  instance.node = "n";
  instance.id = id;
  instance.datacenter = "dc1";
  instance.address = address;
  instance.port = port;
  return instance;
}

class ConsulEntriesTest : public ::testing::Test {
 protected:
  PlatformPart Make(std::vector<ConsulInstance> instances, const std::string& options = "") {
    service_.name = service_.name.empty() ? "web" : service_.name;
    service_.instances[""] = std::move(instances);
    const auto parsed = ParseConsulOptions(StrCat("consul://h:8500?", options));
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    PlatformPart part = MakeConsulEntries(*parsed, service_);
    ExpectAdmitted(part);
    return part;
  }
  ServiceEntry MakeOne(std::vector<ConsulInstance> instances, const std::string& options = "") {
    const PlatformPart part = Make(std::move(instances), options);
    EXPECT_THAT(part.objects, SizeIs(1));
    return part.objects.empty() ? ServiceEntry() : part.objects.front()->Spec<ServiceEntry>();
  }
  // Istio would take it.
  static void ExpectAdmitted(const PlatformPart& part) {
    const std::map<std::string, PlatformPartPtr> parts = {{"p", std::make_shared<const PlatformPart>(part)}};
    const auto kept = ParseKeptView("s", KeptViewText("s", 0, parts));
    ASSERT_TRUE(kept.ok());
    for (const auto& [name, one] : kept->parts) {
      const config::ParseResult result = config::ParseManifests(one.text, "f");
      EXPECT_THAT(result.diagnostics, IsEmpty()) << config::ToText(result.diagnostics.front());
      EXPECT_EQ(result.objects.size(), part.objects.size());
    }
  }
  ConsulService service_;
};

TEST_F(ConsulEntriesTest, AServiceIsAnEntryWithItsInstances) {
  const PlatformPart part = Make({Instance("a"), Instance("b", "10.0.0.2", 8081)});
  ASSERT_THAT(part.objects, SizeIs(1));
  const config::ConfigObject& object = *part.objects.front();
  EXPECT_EQ(object.name(), "web.service.consul");
  EXPECT_EQ(object.ns(), "consul");
  EXPECT_EQ(object.origin().file, "consul://h:8500/v1/health/service/web");
  EXPECT_THAT(object.meta().labels, ElementsAre(Pair("fairlead.dev/registry", "consul")));
  const auto& entry = object.Spec<ServiceEntry>();
  EXPECT_THAT(entry.hosts(), ElementsAre("web.service.consul"));
  EXPECT_EQ(entry.ports(0).number(), 8080u);
  EXPECT_EQ(entry.ports(0).protocol(), "TCP");
  EXPECT_EQ(entry.resolution(), ServiceEntry::STATIC);
  EXPECT_EQ(entry.location(), ServiceEntry::MESH_INTERNAL);
  ASSERT_EQ(entry.endpoints_size(), 2);
  EXPECT_EQ(entry.endpoints(1).address(), "10.0.0.2");
  EXPECT_EQ(entry.endpoints(1).ports().at("tcp"), 8081u);
  EXPECT_EQ(entry.endpoints(1).locality(), "dc1");
}

TEST_F(ConsulEntriesTest, TheSameInstancesAreTheSameEntry) {
  EXPECT_EQ(Make({Instance("a")}).objects.front()->content_hash(),
            Make({Instance("a")}).objects.front()->content_hash());
  EXPECT_NE(Make({Instance("a")}).objects.front()->content_hash(),
            Make({Instance("a", "10.0.0.9")}).objects.front()->content_hash());
}

TEST_F(ConsulEntriesTest, TagsAndMetadataAreLabels) {
  ConsulInstance instance = Instance("a");
  instance.tags = {"canary", "traefik.rule=Host(`x`)", "v=2", "zone|b"};
  instance.meta = {{"team", "shop"}, {"v", "3"}};
  EXPECT_THAT(LabelsOf(instance, true),
              ElementsAre(Pair("canary", "true"), Pair("team", "shop"), Pair("v", "2"), Pair("zone", "b")));
  EXPECT_THAT(LabelsOf(instance, false),
              ElementsAre(Pair("team", "shop"), Pair("v", "2"), Pair("zone", "b")));
  EXPECT_EQ(MakeOne({instance}).endpoints(0).labels().at("v"), "2");
}

TEST_F(ConsulEntriesTest, ChecksDecideWhoGetsRequests) {
  ConsulInstance passing = Instance("a", "10.0.0.1"), warning = Instance("b", "10.0.0.2"),
                 critical = Instance("c", "10.0.0.3"), maintained = Instance("d", "10.0.0.4");
  warning.health = ConsulHealth::kWarning;
  warning.passing_weight = 9;
  warning.warning_weight = 2;
  critical.health = ConsulHealth::kCritical;
  maintained.health = ConsulHealth::kMaintenance;
  const std::vector<ConsulInstance> all = {passing, warning, critical, maintained};
  const ServiceEntry entry = MakeOne(all);
  ASSERT_EQ(entry.endpoints_size(), 2);
  EXPECT_EQ(entry.endpoints(1).weight(), 2u);
  EXPECT_EQ(MakeOne(all, "ready=passing").endpoints_size(), 1);
  EXPECT_EQ(MakeOne(all, "ready=any").endpoints_size(), 3);
  EXPECT_THAT(Make({maintained}, "ready=any").objects, IsEmpty());
}

TEST_F(ConsulEntriesTest, ProtocolsComeFromTheInstanceThenFromConfiguration) {
  service_.protocol = "grpc";
  ConsulInstance instance = Instance("a");
  EXPECT_EQ(MakeOne({instance}).ports(0).protocol(), "GRPC");
  instance.tags = {"protocol=http2"};
  EXPECT_EQ(MakeOne({instance}).ports(0).protocol(), "HTTP2");
  instance.meta = {{"protocol", "http"}};
  EXPECT_EQ(MakeOne({instance}).ports(0).name(), "http");
  instance.meta = {{"protocol", "smoke"}};
  const PlatformPart part = Make({instance});
  EXPECT_THAT(part.diagnostics.front().message, HasSubstr("protocol \"smoke\" is not known"));
}

TEST_F(ConsulEntriesTest, OnePortStandsForAll) {
  const std::vector<ConsulInstance> all = {Instance("a", "10.0.0.1", 20'001),
                                           Instance("b", "10.0.0.2", 20'000)};
  EXPECT_EQ(MakeOne(all).ports(0).number(), 20'000u);
  const ServiceEntry entry = MakeOne(all, "port=80");
  EXPECT_EQ(entry.ports(0).number(), 80u);
  EXPECT_EQ(entry.endpoints(0).ports().at("tcp"), 20'001u);
  ConsulInstance named = Instance("a");
  named.meta = {{"service-port", "443"}};
  EXPECT_EQ(MakeOne({named}).ports(0).number(), 443u);
  const PlatformPart part = Make({Instance("a", "10.0.0.1", 0)});
  EXPECT_THAT(part.objects, IsEmpty());
  EXPECT_THAT(part.diagnostics.front().message, HasSubstr("have no port"));
}

TEST_F(ConsulEntriesTest, AddressesMayBeTaggedVirtualOrNames) {
  ConsulInstance instance = Instance("a");
  instance.tagged = {{"wan", {"203.0.113.1", 90}}, {"virtual", {"10.96.0.7", 80}}};
  EXPECT_EQ(MakeOne({instance}, "address=wan").endpoints(0).address(), "203.0.113.1");
  EXPECT_EQ(MakeOne({instance}, "address=wan").endpoints(0).ports().at("tcp"), 90u);
  EXPECT_THAT(MakeOne({instance}).addresses(), ElementsAre("10.96.0.7"));
  EXPECT_EQ(MakeOne({Instance("a", "db.example.com")}).resolution(), ServiceEntry::DNS);
  EXPECT_EQ(MakeOne({Instance("a", "2001:db8::1")}).endpoints(0).address(), "2001:db8::1");
  EXPECT_THAT(Make({Instance("a", "no host")}).diagnostics.front().message,
              HasSubstr("no address and no host name"));
}

TEST_F(ConsulEntriesTest, DatacentersAreLocalitiesNetworksAndNames) {
  ConsulInstance other = Instance("b", "10.0.0.2");
  other.datacenter = "dc2";
  other.region = "eu";
  other.zone = "a";
  const PlatformPart part =
      Make({Instance("a"), other},
           "network=net-{dc}&names={name}.service.consul,{name}.mesh,{name}.service.{dc}.consul");
  ASSERT_THAT(part.objects, SizeIs(4));
  EXPECT_EQ(part.objects[0]->name(), "web.service.consul");
  EXPECT_EQ(part.objects[1]->name(), "web.mesh");
  const auto& all = part.objects[1]->Spec<ServiceEntry>();
  EXPECT_THAT(all.hosts(), ElementsAre("web.mesh"));
  EXPECT_EQ(all.endpoints(1).locality(), "eu/a");
  EXPECT_EQ(all.endpoints(1).network(), "net-dc2");
  const auto& second = part.objects[3]->Spec<ServiceEntry>();
  EXPECT_THAT(second.hosts(), ElementsAre("web.service.dc2.consul"));
  EXPECT_EQ(second.endpoints_size(), 1);
}

TEST_F(ConsulEntriesTest, SelectorsProxiesAndBadNamesLeaveOut) {
  ConsulInstance proxy = Instance("a");
  proxy.kind = "connect-proxy";
  EXPECT_THAT(Make({proxy}).objects, IsEmpty());
  ConsulInstance tagged = Instance("b");
  tagged.tags = {"env=prod"};
  EXPECT_EQ(MakeOne({Instance("a"), tagged}, "selector=env%3Dprod").endpoints_size(), 1);
  service_.name = "my_web";
  const PlatformPart part = Make({Instance("a")});
  EXPECT_THAT(part.objects, IsEmpty());
  EXPECT_THAT(part.diagnostics.front().message, HasSubstr("no host name"));
}

TEST_F(ConsulEntriesTest, NodesOutsideOfConsulAreOutsideOfTheMesh) {
  ConsulInstance instance = Instance("a");
  instance.node_meta = {{"external-node", "true"}};
  EXPECT_EQ(MakeOne({instance}).location(), ServiceEntry::MESH_EXTERNAL);
}

}  // namespace
}  // namespace fairlead::source
