#include "push/interests.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "mesh/mesh_fixture.h"
#include "mesh/view.h"
#include "push/push_fakes.h"

// Whom a publication concerns.
namespace fairlead::push {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

class InterestsTest : public mesh::MeshFixture {
 protected:
  InterestsTest() {
    AddService("a", "web", {80});
    AddService("b", "web", {80});
    before_ = Build();
  }
  StreamPtr Open() { return pusher_.Open(xds::Framing::kDelta, ""); }
  // Reads of the services of a namespace.
  mesh::ReadsPtr Services(const char* ns) {
    mesh::View view({*before_});
    view.Services(ns);
    return view.Take();
  }
  // The streams that the next snapshot concerns.
  std::vector<StreamPtr> Concerned() {
    const mesh::SnapshotPtr now = Build();
    auto concerned = interests_.ConcernedBy(*before_, *now);
    before_ = now;
    EXPECT_TRUE(concerned.has_value()) << "all of them";
    return concerned.value_or(std::vector<StreamPtr>());
  }

  FakeMesh fake_;
  Pusher pusher_{MakeFakeOptions(), MakeFakeGenerators(&fake_)};
  Interests interests_;
  mesh::SnapshotPtr before_;
};

TEST_F(InterestsTest, AChangeConcernsWhoReadThePart) {
  const StreamPtr a = Open(), b = Open(), both = Open();
  const mesh::ReadsPtr of_a = Services("a"), of_b = Services("b");
  interests_.Set(a, {of_a});
  interests_.Set(b, {of_b});
  Interests::AllReads all = {of_a, of_b};
  std::sort(all.begin(), all.end());
  interests_.Set(both, all);
  EXPECT_EQ(interests_.size(), 2u) << "streams share reads";
  AddService("a", "new", {80});
  EXPECT_THAT(Concerned(), UnorderedElementsAre(a, both));
  AddService("c", "new", {80});
  EXPECT_THAT(Concerned(), IsEmpty());
  AddService("b", "new", {80});
  EXPECT_THAT(Concerned(), UnorderedElementsAre(b, both));
}

TEST_F(InterestsTest, WhatIsSaidLastCounts) {
  const StreamPtr stream = Open();
  interests_.Set(stream, {Services("a")});
  interests_.Set(stream, {Services("b")});
  AddService("a", "new", {80});
  EXPECT_THAT(Concerned(), IsEmpty());
  interests_.Forget(stream);
  EXPECT_EQ(interests_.size(), 0u);
  AddService("b", "new", {80});
  EXPECT_THAT(Concerned(), IsEmpty());
}

TEST_F(InterestsTest, SettingsConcernEverybody) {
  interests_.Set(Open(), {Services("a")});
  NewMeshConfig().set_root_namespace("elsewhere");
  SetSettings();
  EXPECT_FALSE(interests_.ConcernedBy(*before_, *Build()).has_value());
}

TEST_F(InterestsTest, WhatNoQuestionNamesIsConcernedByEverything) {
  const StreamPtr stream = Open();
  mesh::View view({*before_});
  view.MarkUnrepeatable();
  interests_.Set(stream, {view.Take()});
  AddService("c", "new", {80});
  EXPECT_THAT(Concerned(), UnorderedElementsAre(stream));
}

}  // namespace
}  // namespace fairlead::push
