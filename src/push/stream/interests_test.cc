#include "push/stream/interests.h"

#include <gmock/gmock.h>

#include "mesh/mesh_fixture.h"
#include "mesh/view/view.h"
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
  bool Set(const StreamPtr& stream, const std::vector<mesh::ReadsPtr>& reads) {
    return Set(stream, reads, number_);
  }
  bool Set(const StreamPtr& stream, const std::vector<mesh::ReadsPtr>& reads, uint64_t number) {
    Interests::AllReads all;
    for (const mesh::ReadsPtr& one : reads) all.push_back(&one);
    return interests_.Set(stream, std::move(all), number);
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
    auto concerned = interests_.ConcernedBy(*before_, *now, ++number_);
    before_ = now;
    EXPECT_TRUE(concerned.has_value()) << "all of them";
    return concerned.value_or(std::vector<StreamPtr>());
  }

  FakeMesh fake_;
  Pusher pusher_{MakeFakeOptions(), MakeFakeGenerators(&fake_)};
  Interests interests_;
  mesh::SnapshotPtr before_;
  uint64_t number_ = 0;  // of the last publication
};

TEST_F(InterestsTest, AChangeConcernsWhoReadThePart) {
  const StreamPtr a = Open(), b = Open(), both = Open();
  const mesh::ReadsPtr of_a = Services("a"), of_b = Services("b");
  Set(a, {of_a});
  Set(b, {of_b});
  Set(both, {of_a, of_b, of_a});
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
  Set(stream, {Services("a")});
  Set(stream, {Services("b")});
  AddService("a", "new", {80});
  EXPECT_THAT(Concerned(), IsEmpty());
  interests_.Forget(stream);
  EXPECT_EQ(interests_.size(), 0u);
  AddService("b", "new", {80});
  EXPECT_THAT(Concerned(), IsEmpty());
}

TEST_F(InterestsTest, SettingsConcernEverybody) {
  Set(Open(), {Services("a")});
  NewMeshConfig().set_root_namespace("elsewhere");
  SetSettings();
  EXPECT_FALSE(interests_.ConcernedBy(*before_, *Build(), 1).has_value());
}

TEST_F(InterestsTest, WhatNoQuestionNamesIsConcernedByEverything) {
  const StreamPtr stream = Open();
  mesh::View view({*before_});
  view.MarkUnrepeatable();
  Set(stream, {view.Take()});
  AddService("c", "new", {80});
  EXPECT_THAT(Concerned(), UnorderedElementsAre(stream));
}

TEST_F(InterestsTest, WhatPublicationsTouchedIsTold) {
  const StreamPtr stream = Open();
  const mesh::ReadsPtr of_a = Services("a"), of_b = Services("b");
  Set(stream, {of_a, of_b});
  AddService("a", "new", {80});
  Concerned();
  AddService("c", "new", {80});
  Concerned();
  const auto both = interests_.TouchedSince(0, 2), last = interests_.TouchedSince(1, 2);
  ASSERT_TRUE(both && last);
  EXPECT_TRUE(both->Contains(of_a));
  EXPECT_FALSE(both->Contains(of_b));
  EXPECT_FALSE(last->ContainsAnyOf({of_a, of_b}));
  EXPECT_FALSE(interests_.TouchedSince(0, 3)) << "which is not compared yet";
}

TEST_F(InterestsTest, WhatWasTouchedIsNotToldOfSettingsNorAfterTooMany) {
  const StreamPtr stream = Open();
  Set(stream, {Services("a")});
  interests_.ConcernAll(++number_);
  EXPECT_FALSE(interests_.TouchedSince(0, 1));
  for (int i = 0; i < 50; ++i) Concerned();
  EXPECT_TRUE(interests_.TouchedSince(number_ - 1, number_));
  EXPECT_FALSE(interests_.TouchedSince(1, number_));
}

TEST_F(InterestsTest, InterestsThatComeAfterAComparisonAreNotInTime) {
  const StreamPtr stream = Open();
  const mesh::ReadsPtr of_a = Services("a");
  EXPECT_TRUE(Set(stream, {of_a}));
  Concerned();
  EXPECT_FALSE(Set(stream, {of_a}, number_ - 1));
  EXPECT_TRUE(Set(stream, {of_a}, number_));
}

}  // namespace
}  // namespace fairlead::push
