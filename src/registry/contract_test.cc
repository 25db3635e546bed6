// What every registry promises, tried on meshes as users write them: whichever way objects come and go, what
// comes out is what the objects that are there make, and nothing that stayed the same gets a new pointer.
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "model/mesh_config.h"
#include "registry/test_mesh.h"

namespace fairlead::registry {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name;
  std::vector<config::ObjectChange> objects;
  std::string mesh_config, mesh_networks;  // texts; empty where the case has none

  // New each time.
  model::SettingsPtr Settings() const {
    return model::MakeSettings(model::ParseMeshConfig(mesh_config, "mesh.yaml").mesh,
                               model::ParseMeshNetworks(mesh_networks, "networks.yaml").networks,
                               "cluster.local", "Kubernetes");
  }
};

std::string ReadFile(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The conformance meshes of the checkout: the tests run in its root.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const auto& entry : fs::recursive_directory_iterator("tests/conformance")) {
    if (entry.path().filename() != "input.yaml") continue;
    const fs::path folder = entry.path().parent_path();
    Case mesh{folder.string(), {}, ReadFile(folder / "mesh.yaml"), ReadFile(folder / "networks.yaml")};
    for (const config::ConfigPtr& object :
         config::ParseManifests(ReadFile(entry.path()), "input.yaml").objects) {
      mesh.objects.push_back({config::KeyOf(*object), object});
    }
    // And as two clusters: what services and endpoints are made of is in the other one, too.
    Case two = mesh;
    two.name += " in two clusters";
    for (const config::ConfigPtr& object :
         config::ParseManifests(ReadFile(entry.path()), "input.yaml", config::Admission::kChecked,
                                config::Documents::kDropped, "other")
             .objects) {
      if (config::CountsFromEveryCluster(object->kind()))
        two.objects.push_back({config::KeyOf(*object), object});
    }
    if (two.objects.size() != mesh.objects.size()) cases.push_back(std::move(two));
    cases.push_back(std::move(mesh));
  }
  return cases;
}

class RegistryContract : public testing::Test {
 protected:
  static const std::vector<Case>& All() {
    static const auto* cases = new std::vector<Case>(Cases());
    return *cases;
  }
  static std::string AtOnce(const Case& tried, const std::vector<config::ObjectChange>& objects) {
    TestMesh mesh;
    mesh.SetSettings(tried.Settings());
    return ToText(mesh.Apply(objects));
  }
};

TEST_F(RegistryContract, ThereAreMeshesToTry) { EXPECT_GT(All().size(), 20u); }

TEST_F(RegistryContract, OneByOneInAnyOrderEqualsAllAtOnce) {
  std::mt19937 random(1);
  for (const Case& tried : All()) {
    const std::string expected = AtOnce(tried, tried.objects);
    std::vector<config::ObjectChange> shuffled = tried.objects;
    for (int round = 0; round < 3; ++round) {
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      TestMesh mesh;
      mesh.SetSettings(tried.Settings());
      mesh.Apply(std::vector<config::ObjectChange>());
      for (const config::ObjectChange& change : shuffled) mesh.Apply({change});
      ASSERT_EQ(ToText(mesh.output()), expected) << tried.name;
    }
  }
}

TEST_F(RegistryContract, DeletesLeaveWhatTheRestMakes) {
  std::mt19937 random(2);
  for (const Case& tried : All()) {
    TestMesh mesh;
    mesh.SetSettings(tried.Settings());
    mesh.Apply(tried.objects);
    std::vector<config::ObjectChange> rest = tried.objects;
    std::shuffle(rest.begin(), rest.end(), random);
    while (!rest.empty()) {
      mesh.Apply({{rest.back().key, nullptr}});
      rest.pop_back();
      if (rest.size() % 3 != 0) continue;
      ASSERT_EQ(ToText(mesh.output()), AtOnce(tried, rest)) << tried.name;
    }
    EXPECT_TRUE(mesh.output().services.empty() && mesh.output().endpoints.empty() &&
                mesh.output().workloads.empty() && mesh.output().external_targets.empty())
        << tried.name;
  }
}

TEST_F(RegistryContract, DeleteAndReAddRestores) {
  for (const Case& tried : All()) {
    TestMesh mesh;
    mesh.SetSettings(tried.Settings());
    const std::string expected = ToText(mesh.Apply(tried.objects));
    for (const config::ObjectChange& change : tried.objects) {
      mesh.Apply({{change.key, nullptr}});
      mesh.Apply({change});
      ASSERT_EQ(ToText(mesh.output()), expected) << tried.name << " " << config::Describe(change.key);
    }
  }
}

TEST_F(RegistryContract, NewSettingsCountForEverything) {
  for (const Case& tried : All()) {
    TestMesh mesh;
    mesh.SetSettings(R"({"defaultServiceExportTo": ["."]})",
                     R"({"networks": {"n": {"endpoints": [{"fromRegistry": "Kubernetes"}]}}})");
    mesh.Apply(tried.objects);
    mesh.SetSettings(tried.Settings());
    EXPECT_EQ(ToText(mesh.Apply("")), AtOnce(tried, tried.objects)) << tried.name;
  }
}

TEST_F(RegistryContract, ARelistChangesNothing) {
  for (const Case& tried : All()) {
    TestMesh mesh;
    mesh.SetSettings(tried.Settings());
    const model::RegistryOutput before = mesh.Apply(tried.objects);
    // New settings of the same content make the registries look at everything again.
    mesh.SetSettings(tried.Settings());
    const model::RegistryOutput& after = mesh.Apply(tried.objects);
    EXPECT_EQ(after.services, before.services) << tried.name;
    EXPECT_EQ(after.endpoints, before.endpoints) << tried.name;
    EXPECT_EQ(after.workloads, before.workloads) << tried.name;
    EXPECT_FALSE(!after.changes.services.empty() || !after.changes.workloads.empty() ||
                 after.changes.network_gateways)
        << tried.name;
    EXPECT_TRUE(after.changes.endpoints.empty()) << tried.name;
  }
}

}  // namespace
}  // namespace fairlead::registry
