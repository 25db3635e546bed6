#include "xds/stream_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "xds/scripted_stream.h"

// Scripts: a client says something, the server pushes, the client sees. The headings follow the xDS protocol
// document.
namespace fairlead::xds {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

class Sotw : public testing::Test {
 protected:
  Sotw() : s(Framing::kStateOfTheWorld) {
    PutSmallMesh(&s);
    s.Put(kR, "q", "1");
  }
  void Connect() { ConnectToSmallMesh(&s, {"r", "q"}); }
  // The assignment of a cluster that goes and is answered; it differs and was withheld.
  void MakeAnOrphan() {
    Connect();
    s.mesh[kC].erase("a");
    s.Put(kE, "a", "2");
    s.Change();
    EXPECT_THAT(s.Sent(), ElementsAre("CDS b"));
    s.Ack(kC);
  }
  Script s;
};

TEST_F(Sotw, FirstRequestOfARootTypeIsAWildcard) {
  EXPECT_EQ(s.Say(kC, {}), RequestVerdict::kSubscribe);
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b"));
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Sotw, NothingIsSentThatWasNotAskedFor) {
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Say(kR, {"r"});
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Sotw, ATypeThatWaitsHoldsUpNoOther) {
  s.core().Wait(MaskOf(kR));
  s.Say(kR, {"r"});
  EXPECT_FALSE(s.core().Due());
  s.Say(kC, {});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b"));
  s.mesh[kC].erase("b");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a")) << "what is gone is told, too";
  s.Say(kR, {"r", "q"});
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.core().Wait(0);
  EXPECT_TRUE(s.core().Due());
  EXPECT_THAT(s.Sent(), ElementsAre("RDS q r"));
}

TEST_F(Sotw, AnEmptyMeshIsAnswered) {
  s.mesh.clear();
  s.Say(kC, {});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS"));
  s.Ack(kC);
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Sotw, AnAckIsNotAnswered) {
  s.Say(kC, {});
  s.Sent();
  EXPECT_EQ(s.Ack(kC), RequestVerdict::kAck);
  EXPECT_THAT(s.Sent(), IsEmpty());
  EXPECT_EQ(s.core().Status(kC).version_acked, s.LastVersion(kC));
}

TEST_F(Sotw, VersionsAreOfTheContent) {
  s.Say(kC, {});
  s.Sent();
  Script other(Framing::kStateOfTheWorld, "other");
  other.mesh = s.mesh;
  other.Say(kC, {});
  other.Sent();
  EXPECT_EQ(s.LastVersion(kC), other.LastVersion(kC));
  EXPECT_NE(s.LastNonce(kC), other.LastNonce(kC));
  other.Put(kC, "a", "2");
  other.Change();
  other.Sent();
  EXPECT_NE(s.LastVersion(kC), other.LastVersion(kC));
}

TEST_F(Sotw, RootTypesAreSentWholeOthersByWhatChanged) {
  Connect();
  s.Put(kL, "m", "1");
  s.Put(kR, "q", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS l m", "RDS q"));
}

TEST_F(Sotw, NothingDiffersNothingIsSent) {
  Connect();
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Sotw, AChangedClusterTakesItsEndpointsAlong) {
  Connect();
  s.Put(kC, "b", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b", "EDS b"));
}

TEST_F(Sotw, AChangedListenerTakesItsRoutesAlong) {
  Connect();
  s.Put(kL, "l", "2", {"r"});
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS l", "RDS r"));
}

TEST_F(Sotw, TypesComeInTheOrderOfTheProtocol) {
  Connect();
  for (TypeId type : {kC, kE, kL, kR}) {
    for (auto& [name, resource] : s.mesh[type]) resource = MakeResource(type, name, "2", {"r"});
  }
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b", "EDS a b", "LDS l", "RDS q r"));
}

TEST_F(Sotw, AClusterGoesAfterTheRoutesToIt) {
  Connect();
  s.mesh[kC].erase("a");
  s.Put(kC, "c", "1");
  s.Put(kR, "r", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b c", "RDS r", "CDS b c"));
  s.mesh[kC].erase("b");
  s.Put(kR, "r", "3");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r", "CDS c"));
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Sotw, WhatNothingRefersToAnyMoreIsLeftAlone) {
  Connect();
  s.mesh[kC].erase("a");
  s.Put(kE, "a", "empty");
  s.mesh[kL].erase("l");
  s.Put(kL, "m", "1", {"q"});
  s.Put(kR, "r", "empty");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS m", "RDS q", "CDS b"))
      << "neither the endpoints of a nor the routes r";
  s.Ack(kE, {"b"});
  s.Ack(kR, {"q"});
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Sotw, WhoStillAsksForAnOrphanGetsItInTheNextPush) {
  MakeAnOrphan();
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("EDS a"));
}

TEST_F(Sotw, OnlyTypesThatMayHaveChangedAreCompared) {
  Connect();
  s.Put(kC, "a", "2");
  s.Put(kE, "b", "2");
  s.Change(MaskOf(kE));
  EXPECT_THAT(s.Sent(), ElementsAre("EDS b"));
  s.Change(0);
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Change(MaskOf(kC));
  EXPECT_THAT(s.Sent(), Contains("CDS a b"));
}

TEST_F(Sotw, WhatWasWithheldIsComparedWhateverChanged) {
  MakeAnOrphan();
  s.Change(0);
  EXPECT_THAT(s.Sent(), ElementsAre("EDS a"));
}

// A listener goes, and before the client could answer that, what its routes lead to.
TEST_F(Sotw, AnOrphanOutlivesPushesThatComeBeforeTheAnswer) {
  Connect();
  s.mesh[kL].erase("l");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS"));
  s.Put(kR, "r", "empty");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Put(kR, "r", "another");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Ack(kL);
  s.Ack(kR, {});
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty()) << "the client let go of it";
}

TEST_F(Sotw, AnOrphanThatIsReferredToAgainBeforeTheAnswerIsNoneAnyMore) {
  Connect();
  s.mesh[kL].erase("l");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS"));
  s.Put(kL, "m", "1", {"r"});
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS m", "RDS r"));
  s.Put(kR, "r", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
}

TEST_F(Sotw, WhoStillAsksForAnOrphanWhenThingsAreQuietGetsIt) {
  Connect();
  s.mesh[kC].erase("a");
  s.Put(kE, "a", "2");
  s.mesh[kL].erase("l");
  s.Put(kR, "r", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS", "CDS b"));
  s.Ack(kL);
  EXPECT_FALSE(s.core().HoldsBack()) << "the clusters are not answered yet";
  s.Ack(kC);
  EXPECT_TRUE(s.core().HoldsBack());
  s.Ack(kE, {"b"});  // lets go of a, but not of r
  EXPECT_THAT(s.Sent(), IsEmpty());
  EXPECT_TRUE(s.core().HoldsBack());
  s.Quiet();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
  EXPECT_FALSE(s.core().HoldsBack());
  s.Quiet();
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Sotw, AnOrphanThatIsAsItWasIsNotSentAgain) {
  Connect();
  s.mesh[kC].erase("a");
  s.Put(kE, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS b"));
  s.Put(kE, "a", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty()) << "the client has it";
}

TEST_F(Sotw, ATypeThatIsStartedAnewHasNoOrphans) {
  Connect();
  s.mesh[kC].erase("a");
  s.Put(kE, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS b"));
  s.Say(kE, {"a", "b"});
  EXPECT_THAT(s.Sent(), ElementsAre("EDS a b"));
}

TEST_F(Sotw, ASubscriptionGrowsByANewNameAlone) {
  s.Say(kE, {"a"});
  EXPECT_THAT(s.Sent(), ElementsAre("EDS a"));
  EXPECT_EQ(s.Ack(kE, {"a", "b"}), RequestVerdict::kSubscribe);
  EXPECT_THAT(s.Sent(), ElementsAre("EDS b"));
}

TEST_F(Sotw, ANameThatCameBackIsSentAgain) {
  Connect();
  s.Ack(kE, {"a"});
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Ack(kE, {"a", "b"});
  EXPECT_THAT(s.Sent(), ElementsAre("EDS b"));
}

TEST_F(Sotw, ANameOfNothingIsAnsweredWhenItAppears) {
  s.Say(kR, {"later"});
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Put(kR, "later", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS later"));
}

TEST_F(Sotw, NoNamesEndASubscription) {
  Connect();
  EXPECT_EQ(s.Ack(kE), RequestVerdict::kUnsubscribe);
  s.Put(kE, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Sotw, AWildcardWithNamesEndsTheLegacyWildcard) {
  s.Say(kC, {});
  s.Sent();
  s.Ack(kC, {"a"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a"));
  s.Ack(kC, {"*", "a"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b"));
  EXPECT_EQ(s.Ack(kC, {}), RequestVerdict::kUnsubscribe)
      << "names were given before: an empty list asks for nothing";
  s.Put(kC, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Sotw, AStaleNonceIsIgnoredWithItsNames) {
  Connect();
  const std::string old = s.LastNonce(kE);
  s.Put(kE, "a", "2");
  s.Change();
  s.Sent();
  EXPECT_EQ(s.Say(kE, {"a"}, old), RequestVerdict::kStale);
  s.Put(kE, "b", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("EDS b"));
}

TEST_F(Sotw, ANonceOfAnotherStreamOpensTheType) {
  EXPECT_EQ(s.Say(kC, {}, "other7"), RequestVerdict::kSubscribe);
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b"));
}

TEST_F(Sotw, NamesThatAnotherTypeAskedForAreNotTakenForRepeated) {
  s.Put(kR, "a", "1");
  s.Put(kR, "b", "1");
  Connect();
  EXPECT_EQ(s.Ack(kE, {"a", "b"}), RequestVerdict::kAck);
  EXPECT_EQ(s.Ack(kR, {"a", "b"}), RequestVerdict::kSubscribe) << "the endpoints' names, asked for as routes";
  EXPECT_THAT(s.Sent(), ElementsAre("RDS a b"));
  EXPECT_EQ(s.Ack(kR, {"a", "b"}), RequestVerdict::kAck);
  EXPECT_THAT(s.Sent(), IsEmpty());
}

TEST_F(Sotw, AnEmptyNonceLaterStartsTheTypeAnew) {
  Connect();
  EXPECT_EQ(s.Say(kC, {}), RequestVerdict::kSubscribe);
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b", "EDS a b"));
}

TEST_F(Sotw, WhatWasRejectedWaitsUntilItDiffers) {
  Connect();
  s.Put(kR, "r", "bad");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
  EXPECT_EQ(s.Nack(kR, {"r", "q"}), RequestVerdict::kNack);
  EXPECT_EQ(s.core().Status(kR).error, "bad");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Put(kR, "r", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
  s.Ack(kR, {"q", "r"});
  EXPECT_EQ(s.core().Status(kR).error, "");
  EXPECT_EQ(s.core().Status(kR).nacks, 1u);
}

TEST_F(Sotw, ANackMayBringNames) {
  s.Say(kE, {"a"});
  s.Sent();
  EXPECT_EQ(s.Nack(kE, {"a", "b"}), RequestVerdict::kNack);
  EXPECT_THAT(s.Sent(), ElementsAre("EDS b"));
}

TEST_F(Sotw, ANackMayLetGoOfAllNames) {
  Connect();
  s.Put(kE, "a", "bad");
  s.Change();
  s.Sent();
  EXPECT_EQ(s.Nack(kE), RequestVerdict::kNack) << "or nobody would hear of it";
  EXPECT_FALSE(s.core().Subscribed(kE));
}

TEST_F(Sotw, UnknownTypesAreLeftAlone) {
  DecodedRequest request;
  request.type_url = "type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration";
  EXPECT_EQ(s.core().OnRequest(request).kind, RequestVerdict::kUnknownType);
  StreamCore narrow(Framing::kStateOfTheWorld, MaskOf(kC), "n");
  request.type_url = InfoOf(kE).url;
  EXPECT_EQ(narrow.OnRequest(request).kind, RequestVerdict::kUnknownType);
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}
}  // namespace
}  // namespace fairlead::xds
