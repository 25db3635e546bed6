#include "app/mesh_config_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "source/file/source_fake.h"

namespace fairlead::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MeshConfigMapTest : public ::testing::Test {
 protected:
  void Send(std::string_view name, std::string_view data) {
    const auto parsed =
        config::ParseManifests(StrCat("{apiVersion: v1, kind: ConfigMap, metadata: {name: ", name,
                                      ", namespace: system}, data: ", data, "}"),
                               "a.yaml");
    ASSERT_EQ(parsed.objects.size(), 1u);
    map_.OnChanges({{config::KeyOf(*parsed.objects[0]), parsed.objects[0]}});
  }

  source::RecordingSink next_;
  std::vector<std::string> told_;
  MeshConfigMap map_{
      "system",
      "istio",
      {[this](const std::string& where, const std::string& text) { told_.push_back(where + ": " + text); },
       [this](const std::string& where, const std::string& text) { told_.push_back(where + ": " + text); }},
      &next_};
};

TEST_F(MeshConfigMapTest, TellsWhatChangedInIt) {
  Send("istio", "{mesh: 'a: 1', meshNetworks: 'n: 1'}");
  EXPECT_THAT(told_,
              ElementsAre("ConfigMap system/istio mesh: a: 1", "ConfigMap system/istio meshNetworks: n: 1"));
  told_.clear();
  Send("istio", "{mesh: 'a: 2', meshNetworks: 'n: 1'}");
  EXPECT_THAT(told_, ElementsAre("ConfigMap system/istio mesh: a: 2"));
  EXPECT_EQ(next_.batches(), 2u) << "it is an object like others";
}

TEST_F(MeshConfigMapTest, OthersSayNothingNorDoesWhatIsGone) {
  Send("other", "{mesh: 'a: 1'}");
  Send("istio", "{values: x}");
  map_.OnChanges({{{config::Kind::kConfigMap, "system", "istio"}, nullptr}});
  EXPECT_THAT(told_, IsEmpty());
}

TEST(MeshConfigMapNameTest, ARevisionWithANameHasItsOwn) {
  EXPECT_EQ(MeshConfigMapName(""), "istio");
  EXPECT_EQ(MeshConfigMapName("default"), "istio");
  EXPECT_EQ(MeshConfigMapName("canary"), "istio-canary");
}

}  // namespace
}  // namespace fairlead::app
