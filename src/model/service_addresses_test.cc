#include "model/service_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const AddressView kIpv4{.ipv4 = true, .ipv6 = false, .own_cluster = true, .auto_allocated = false};
const AddressView kIpv6{.ipv4 = false, .ipv6 = true, .own_cluster = true, .auto_allocated = false};
// A proxy of both families, without and with ISTIO_DUAL_STACK.
const AddressView kEither{.ipv4 = true, .ipv6 = true, .own_cluster = true, .auto_allocated = false};
const AddressView kBoth{
    .ipv4 = true, .ipv6 = true, .both_families = true, .own_cluster = true, .auto_allocated = false};

Service DualStack() {
  Service service;
  service.address = "10.96.0.1";
  service.cluster_vips = {"10.96.0.1", "fd00::1"};
  return service;
}

TEST(FilterByFamily, KeepsTheFirstFamilyForClientsOfBoth) {
  EXPECT_THAT(FilterByFamily({"10.0.0.1", "fd00::1", "10.1.0.0/16"}, true, true),
              ElementsAre("10.0.0.1", "10.1.0.0/16"));
  EXPECT_THAT(FilterByFamily({"fd00::1", "10.0.0.1"}, true, true), ElementsAre("fd00::1"));
  EXPECT_THAT(FilterByFamily({"fd00::1", "10.0.0.1"}, true, false), ElementsAre("10.0.0.1"));
  EXPECT_THAT(FilterByFamily({"no address", "fd00::/8"}, true, true), ElementsAre("fd00::/8"));
  EXPECT_THAT(FilterByFamily({}, true, true), IsEmpty());
}

TEST(ServiceAddresses, FollowTheClientsFamily) {
  const Service service = DualStack();
  EXPECT_EQ(PrimaryAddress(service, kIpv4), "10.96.0.1");
  EXPECT_EQ(PrimaryAddress(service, kIpv6), "fd00::1");
  EXPECT_THAT(AllAddresses(service, kIpv6), ElementsAre("fd00::1"));
  EXPECT_THAT(AllAddresses(service, kEither), ElementsAre("10.96.0.1"));
  EXPECT_THAT(AllAddresses(service, kBoth), ElementsAre("10.96.0.1", "fd00::1"));
}

TEST(ServiceAddresses, WithoutDualStackAreOfTheFirstOnesFamily) {
  Service service = DualStack();
  service.cluster_vips = {"fd00::1", "10.96.0.1"};
  EXPECT_THAT(AllAddresses(service, kEither), ElementsAre("fd00::1"));
  EXPECT_EQ(PrimaryAddress(service, kEither), "fd00::1");
}

ServicePtr OfCluster(Service service, std::string_view cluster) {
  config::ObjectMeta meta;
  meta.cluster = cluster;
  service.source =
      std::make_shared<config::ConfigObject>(config::Kind::kService, meta, config::Origin{}, nullptr, 1);
  return std::make_shared<const Service>(std::move(service));
}

TEST(ServiceAddresses, AreThoseOfTheClientsCluster) {
  Service service = DualStack(), there;
  there.address = "10.97.0.1";
  there.cluster_vips = {"10.97.0.1"};
  service.in_other_clusters = {OfCluster(there, "east")};
  AddressView east = kBoth, unknown = kBoth, silent = kBoth;
  east.own_cluster = unknown.own_cluster = silent.own_cluster = false;
  east.cluster = "east";
  unknown.cluster = "west";
  EXPECT_EQ(PrimaryAddress(service, kBoth), "10.96.0.1");
  EXPECT_EQ(PrimaryAddress(service, east), "10.97.0.1");
  EXPECT_THAT(AllAddresses(service, east), ElementsAre("10.97.0.1"));
  for (const AddressView& view : {unknown, silent}) {
    EXPECT_THAT(ClusterVips(service, view), IsEmpty());
    EXPECT_EQ(PrimaryAddress(service, view), "10.96.0.1") << "the first cluster's stands for all";
  }
  EXPECT_THAT(AllClusterVips(service), ElementsAre("10.96.0.1", "fd00::1", "10.97.0.1"));
}

TEST(ServiceAddresses, OfAServiceThatIsInAnotherClusterAlone) {
  Service there;
  there.address = "10.97.0.1";
  there.cluster_vips = {"10.97.0.1"};
  const ServicePtr service = OfCluster(there, "east");
  EXPECT_THAT(ClusterVips(*service, kIpv4), IsEmpty());
  EXPECT_THAT(AllAddresses(*service, kIpv4), ElementsAre("10.97.0.1")) << "as istiod does";
}

TEST(ServiceAddresses, OfAnUnreachableFamilyAreNone) {
  Service service;
  service.address = "fd00::1";
  service.cluster_vips = {"fd00::1"};
  EXPECT_THAT(AllAddresses(service, kIpv4), IsEmpty());
}

TEST(ServiceAddresses, OfServiceEntriesStayWhateverTheFamily) {
  Service service;
  service.address = "fd00::1";
  EXPECT_THAT(AllAddresses(service, kIpv4), ElementsAre("fd00::1"));
  EXPECT_THAT(AllAddresses(Service(), kIpv4), ElementsAre("0.0.0.0"));
}

TEST(ServiceAddresses, AreAllocatedForClientsThatCaptureDns) {
  Service service;
  service.auto_allocated_ipv4 = "240.240.0.1";
  service.auto_allocated_ipv6 = "2001:2::1";
  AddressView view = kIpv4;
  EXPECT_EQ(PrimaryAddress(service, view), "0.0.0.0");
  view.auto_allocated = true;
  EXPECT_EQ(PrimaryAddress(service, view), "240.240.0.1");
  EXPECT_THAT(AllAddresses(service, view), ElementsAre("240.240.0.1"));
  view.ipv6 = true;
  EXPECT_THAT(AllAddresses(service, view), ElementsAre("240.240.0.1"));
  view.both_families = true;
  EXPECT_THAT(AllAddresses(service, view), ElementsAre("240.240.0.1", "2001:2::1"));
}

TEST(ServiceAddresses, OfAnotherClusterAreNotTheVirtualIps) {
  AddressView view = kIpv6;
  view.own_cluster = false;
  EXPECT_EQ(PrimaryAddress(DualStack(), view), "10.96.0.1");
  EXPECT_THAT(AllAddresses(DualStack(), view), IsEmpty());
}

TEST(AddressViewOf, ReadsTheProxy) {
  Proxy proxy;
  proxy.supports_ipv4 = true;
  proxy.metadata.cluster_id = "east";
  proxy.metadata.dns_capture = true;
  Settings settings;
  settings.cluster_id = "east";
  EXPECT_EQ(AddressViewOf(*ClassOf(proxy), settings),
            (AddressView{.ipv4 = true, .ipv6 = false, .own_cluster = true, .auto_allocated = true}));
  settings.cluster_id = "west";
  EXPECT_FALSE(AddressViewOf(*ClassOf(proxy), settings).own_cluster);
  settings.features.dual_stack = true;
  EXPECT_TRUE(AddressViewOf(*ClassOf(proxy), settings).both_families);
}

}  // namespace
}  // namespace fairlead::model
