#include <gmock/gmock.h>

#include "mesh/index/registry_index_builders.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::mesh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RegistryIndexesTest : public MeshFixture {
 protected:
  // Removes the workload added last but `back`.
  void RemoveWorkload(size_t back) {
    const auto gone = workloads_.end() - 1 - static_cast<ptrdiff_t>(back);
    registry_.changes.workloads.push_back({*gone, nullptr});
    registry_.workloads.Erase(*gone);
    workloads_.erase(gone);
  }
  void AddEntry(std::string_view ns, std::string_view name, std::string_view ip) {
    AddWorkload(Put(config::Kind::kWorkloadEntry, ns, name, istio::networking::v1alpha3::WorkloadEntry()), ip,
                {});
  }
  static std::string NameOf(const model::WorkloadInstance* workload) {
    return workload == nullptr ? "" : StrCat(workload->workload->ns.str(), "/", workload->name.str());
  }
};

TEST_F(RegistryIndexesTest, PodsComeBeforeEntriesOfOneAddress) {
  AddEntry("b", "vm", "10.0.0.1");
  AddEntry("a", "vm", "10.0.0.1");
  AddPod("z", "pod", "10.0.0.1", {});
  const SnapshotPtr snapshot = Build();
  EXPECT_EQ(NameOf(snapshot->workloads->FindByAddress("10.0.0.1")), "z/pod");
  EXPECT_EQ(NameOf(snapshot->workloads->FindPod("z", "pod")), "z/pod");
  EXPECT_EQ(snapshot->workloads->FindPod("a", "vm"), nullptr);
  std::vector<std::string> entries;
  for (const auto* entry : WorkloadIndex::EntriesOf(snapshot->workloads->At("10.0.0.1").get()))
    entries.push_back(NameOf(entry));
  EXPECT_THAT(entries, ElementsAre("a/vm", "b/vm"));
  EXPECT_THAT(WorkloadIndex::EntriesOf(snapshot->workloads->At("10.0.0.2").get()), IsEmpty());
}

TEST_F(RegistryIndexesTest, WorkloadsFollowTheirChanges) {
  AddPod("a", "one", "10.0.0.1", {});
  AddPod("a", "two", "10.0.0.2", {});
  const SnapshotPtr before = Build();
  RemoveWorkload(1);
  AddPod("b", "three", "10.0.0.1", {});
  const SnapshotPtr after = Build();
  EXPECT_EQ(NameOf(before->workloads->FindByAddress("10.0.0.1")), "a/one");
  EXPECT_EQ(NameOf(after->workloads->FindByAddress("10.0.0.1")), "b/three");
  EXPECT_EQ(after->workloads->FindPod("a", "one"), nullptr);
  EXPECT_NE(after->workloads->FindPod("a", "two"), nullptr);
  RemoveWorkload(0);
  EXPECT_EQ(Build()->workloads->FindByAddress("10.0.0.1"), nullptr);
}

TEST_F(RegistryIndexesTest, NetworkGatewaysOfMeshNetworksJoinTheRegistries) {
  model::NetworkGateway found;
  found.network = "n1";
  found.cluster = "c1";
  found.address = "1.1.1.1";
  registry_.network_gateways = {found};
  registry_.changes.network_gateways = true;
  auto networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
  auto& n2 = (*networks->mutable_networks())["n2"];
  n2.add_gateways()->set_address("2.2.2.2");
  n2.mutable_gateways(0)->set_port(443);
  n2.add_gateways()->set_registry_service_name("by.name");
  settings_.networks = networks;
  SetSettings();
  const auto index = Build()->networks;
  ASSERT_EQ(index->All().size(), 2u);
  ASSERT_EQ(index->Of("n2").size(), 1u);
  EXPECT_EQ(index->Of("n2")[0].address, "2.2.2.2");
  EXPECT_EQ(index->Of("n2")[0].port, 443u);
  EXPECT_EQ(index->Of("n1", "c1").size(), 1u);
  EXPECT_THAT(index->Of("n1", "c2"), IsEmpty());
}

}  // namespace
}  // namespace fairlead::mesh
