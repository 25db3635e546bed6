#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "xds/scripted_stream.h"

// As stream_core_test.cc, for the incremental variant.
namespace fairlead::xds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Delta : public testing::Test {
 protected:
  Delta() : s(Framing::kDelta) { PutSmallMesh(&s); }
  void Connect() { ConnectToSmallMesh(&s); }
  Script s;
};

TEST_F(Delta, OnlyWhatChangedIsSent) {
  s.Say(kC, {});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b"));
  EXPECT_EQ(s.Ack(kC), RequestVerdict::kAck);
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Put(kC, "b", "2");
  s.Put(kC, "c", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS b c"));
  s.mesh[kC].erase("a");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS -a"));
}

TEST_F(Delta, AnEmptyMeshIsAnswered) {
  s.mesh.clear();
  s.Say(kC, {});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS"));
}

TEST_F(Delta, InitialVersionsMoveNoBytes) {
  s.Say(kC, {}, "", {}, {{"a", s.VersionOf(kC, "a")}, {"b", s.VersionOf(kC, "b")}});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS")) << "the wildcard is answered, without a resource";
  s.Say(kE, {"a", "b"}, "", {}, {{"a", s.VersionOf(kE, "a")}, {"b", s.VersionOf(kE, "b")}});
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Delta, InitialVersionsThatDifferOrAreGone) {
  s.Say(kC, {}, "", {},
        {{"a", "not one of ours"}, {"b", s.VersionOf(kC, "b")}, {"gone", s.VersionOf(kC, "b")}});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a -gone"));
}

TEST_F(Delta, InitialVersionsOfWhatIsNotAskedForDoNotCount) {
  s.Say(kE, {"a"}, "", {}, {{"a", s.VersionOf(kE, "a")}, {"b", s.VersionOf(kE, "b")}});
  EXPECT_THAT(s.Sent(), IsEmpty()) << "b is neither sent nor removed";
}

TEST_F(Delta, InitialVersionsOfWhatOthersHaveAreTheirs) {
  const ResourceSetPtr others = ResourceSet::Of({s.mesh[kE]["a"], s.mesh[kE]["b"]});
  s.Say(kE, {"a", "b", "c"}, "", {}, {{"b", s.VersionOf(kE, "b")}, {"a", s.VersionOf(kE, "a")}});
  EXPECT_EQ(s.core().Status(kE).sent->parts(), others->parts());
  EXPECT_THAT(s.Sent(), ElementsAre("EDS -c"));
  s.Put(kE, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("EDS a"));
}

TEST_F(Delta, InitialVersionsCostMemoryUntilTheClientIsToldSomething) {
  const size_t before = s.core().Holds().own;
  s.Say(kC, {}, "", {}, {{"gone", s.VersionOf(kC, "b")}, {"a", s.VersionOf(kC, "b")}});
  EXPECT_GT(s.core().Holds().own, before + 100) << "made of the client's words";
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b -gone"));
  EXPECT_EQ(s.Ack(kC), RequestVerdict::kAck);
  EXPECT_EQ(s.core().Holds().own, before);
}

TEST_F(Delta, InitialVersionsOfOthersCostNoMemory) {
  const ResourceSetPtr others = ResourceSet::Of({s.mesh[kE]["a"], s.mesh[kE]["b"]});
  const size_t before = s.core().Holds().own;
  s.Say(kE, {}, "", {}, {{"b", s.VersionOf(kE, "b")}, {"a", s.VersionOf(kE, "a")}});
  EXPECT_EQ(s.core().Holds().own, before);
}

TEST_F(Delta, UnknownNamesAreAnsweredAsRemoved) {
  s.Say(kR, {"r", "none"});
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r -none"));
  s.Put(kR, "none", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS none"));
}

TEST_F(Delta, SubscribingAgainSendsAgain) {
  Connect();
  EXPECT_EQ(s.Say(kE, {"a"}), RequestVerdict::kSubscribe);
  EXPECT_THAT(s.Sent(), ElementsAre("EDS a"));
}

TEST_F(Delta, UnsubscribedNamesAreNotReportedAsRemoved) {
  Connect();
  EXPECT_EQ(s.Say(kE, {}, "", {"a"}), RequestVerdict::kUnsubscribe);
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Put(kE, "a", "2");
  s.Put(kE, "b", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("EDS b"));
  s.Say(kE, {"a"});
  EXPECT_THAT(s.Sent(), ElementsAre("EDS a"));
}

TEST_F(Delta, ASubscriptionOnAStaleNonceIsHonoured) {
  s.Say(kE, {"a"});
  s.Sent();
  const std::string old = s.LastNonce(kE);
  s.Put(kE, "a", "2");
  s.Change();
  s.Sent();
  EXPECT_EQ(s.Say(kE, {"b"}, old), RequestVerdict::kStale);
  EXPECT_THAT(s.Sent(), ElementsAre("EDS b"));
}

TEST_F(Delta, WildcardRules) {
  s.Say(kC, {});
  s.Sent();
  s.Say(kC, {"a"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a")) << "still a wildcard, and a is asked for again";
  s.Put(kC, "c", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS c"));
  s.Say(kC, {}, "", {"*"});
  s.Put(kC, "b", "2");
  s.Put(kC, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a"));
  s.Say(kC, {"*"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS b c"));
}

TEST_F(Delta, UnderAWildcardALetGoNameIsAnswered) {
  s.Say(kC, {"*", "a", "none"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b -none"));
  s.Say(kC, {}, "", {"a", "none"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a -none"));
}

TEST_F(Delta, UnderAWildcardANameThatIsLetGoAtOnceIsAnswered) {
  s.Say(kC, {}, "", {"none"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b -none"));
}

TEST_F(Delta, AWildcardBringsBackWhatWasLetGo) {
  s.Say(kC, {"a", "b"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b"));
  s.Say(kC, {}, "", {"a"});
  s.Say(kC, {"*"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a")) << "the client dropped it, and keeps b";
}

TEST_F(Delta, SubscribingAndUnsubscribingTheWildcardAsksForNothing) {
  s.Say(kC, {"*"}, "", {"*"});
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Say(kC, {"b"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS b"));
}

TEST_F(Delta, AChangedClusterTakesItsEndpointsAlong) {
  Connect();
  s.Put(kC, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a", "EDS a"));
}

TEST_F(Delta, AClusterGoesAfterTheRoutesToIt) {
  Connect();
  s.mesh[kC].erase("a");
  s.Put(kC, "c", "1");
  s.Put(kR, "r", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS c", "RDS r", "CDS -a"));
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Delta, AClusterThatIsGoneAndAskedForAnewIsAnsweredOnce) {
  Connect();
  s.mesh[kC].erase("a");
  s.Put(kR, "r", "2");
  s.Change();
  s.Say(kC, {"a"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS -a", "RDS r"));
}

TEST_F(Delta, WhatNothingRefersToAnyMoreIsLeftAlone) {
  Connect();
  s.mesh[kC].erase("a");
  s.mesh[kE].erase("a");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS -a"));
  s.Say(kE, {}, "", {"a"});
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Delta, WhoStillAsksForAnOrphanWhenThingsAreQuietHearsOfIt) {
  Connect();
  s.mesh[kC].erase("a");
  s.mesh[kE].erase("a");
  s.mesh[kL].erase("l");
  s.Put(kR, "r", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS -l", "CDS -a"));
  s.Nack(kL);
  EXPECT_FALSE(s.core().HoldsBack()) << "the clusters are not answered yet";
  s.Ack(kC);
  EXPECT_TRUE(s.core().HoldsBack());
  s.Quiet();
  EXPECT_THAT(s.Sent(), ElementsAre("EDS -a", "RDS r"));
  EXPECT_FALSE(s.core().HoldsBack());
  s.Quiet();
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Delta, WhoLetsGoOfAnOrphanHearsNothing) {
  Connect();
  s.mesh[kC].erase("a");
  s.mesh[kE].erase("a");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS -a"));
  s.Ack(kC);
  EXPECT_TRUE(s.core().HoldsBack());
  s.Say(kE, {}, "", {"a"});
  EXPECT_FALSE(s.core().HoldsBack());
  s.Quiet();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Delta, AChangeOfAllAMeshsServicesTouchesEachOnce) {
  constexpr int kServices = 3000;
  Script many(Framing::kDelta, "many");
  Names names;
  for (int i = 0; i < kServices; ++i) {
    names.push_back(StrCat("outbound|80||service-", i, ".default.svc.cluster.local"));
    many.Put(kC, names.back(), "1");
    many.Put(kE, names.back(), "1");
  }
  many.Say(kC, {});
  many.Sent();
  many.Ack(kC);
  many.Say(kE, names);
  many.Sent();
  many.Ack(kE);
  many.mesh.clear();
  many.Change();
  EXPECT_EQ(many.Sent().size(), 1u) << "all clusters are gone";
  many.Ack(kC);
  EXPECT_TRUE(many.core().HoldsBack());
  many.Say(kE, {}, "", names);
  many.Change();
  EXPECT_THAT(many.Sent(), IsEmpty());
}

TEST_F(Delta, AnOrphanThatIsAskedForAnewIsAnswered) {
  Connect();
  s.mesh[kC].erase("a");
  s.Put(kE, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS -a"));
  s.Say(kE, {"a"});
  EXPECT_THAT(s.Sent(), ElementsAre("EDS a"));
  EXPECT_FALSE(s.core().HoldsBack());
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Delta, AnOrphanOutlivesPushesThatComeBeforeTheAnswer) {
  Connect();
  s.mesh[kL].erase("l");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS -l"));
  s.Put(kR, "r", "empty");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
  EXPECT_FALSE(s.core().HoldsBack());
  s.Ack(kL);
  EXPECT_TRUE(s.core().HoldsBack()) << "a client that goes on asking for it gets it";
  s.Quiet();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
}

TEST_F(Delta, AnOrphanThatIsAskedForAnewBeforeTheAnswerIsNoneAnyMore) {
  Connect();
  s.mesh[kL].erase("l");
  s.Put(kR, "r", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS -l"));
  s.Say(kR, {"r"});
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
  s.Put(kR, "r", "3");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
}

TEST_F(Delta, AnOrphanThatIsReferredToAgainIsSentWithWhatRefersToIt) {
  Connect();
  s.mesh[kC].erase("a");
  s.Put(kE, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS -a"));
  s.Put(kC, "a", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a", "EDS a"));
  EXPECT_FALSE(s.core().HoldsBack());
}

TEST_F(Delta, AClusterThatComesBackComesWithItsEndpoints) {
  s.Say(kC, {"a", "b"});
  s.Sent();
  s.Say(kE, {"a", "b"});
  s.Sent();
  EXPECT_EQ(s.Say(kC, {}, "", {"a"}), RequestVerdict::kUnsubscribe);
  EXPECT_THAT(s.Sent(), IsEmpty());
  EXPECT_EQ(s.Say(kC, {"a"}), RequestVerdict::kSubscribe);
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a", "EDS a")) << "a client warms a cluster that it did not have";
}

TEST_F(Delta, ExtensionsAreNeverReportedAsRemoved) {
  s.Put(TypeId::kExtension, "x", "1");
  s.Say(TypeId::kExtension, {"x"});
  EXPECT_THAT(s.Sent(), ElementsAre("ECDS x"));
  s.mesh[TypeId::kExtension].clear();
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Delta, WhatWasRejectedWaitsUntilItDiffers) {
  Connect();
  s.Put(kR, "r", "bad");
  s.Change();
  s.Sent();
  EXPECT_EQ(s.Nack(kR), RequestVerdict::kNack);
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Put(kR, "r", "good");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
}
}  // namespace
}  // namespace fairlead::xds
