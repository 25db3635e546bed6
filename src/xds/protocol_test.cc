#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "xds/scripted_stream.h"

// The xDS protocol document, paragraph by paragraph, where the other scripts do not already say it;
// docs/protocol.md has the table. "Both" scripts run in both variants. Source:
// envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol
namespace fairlead::xds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Both : public testing::TestWithParam<Framing> {
 protected:
  Both() : s(GetParam()) { PutSmallMesh(&s); }
  bool delta() const { return GetParam() == Framing::kDelta; }
  Script s;
};
INSTANTIATE_TEST_SUITE_P(Variants, Both, testing::Values(Framing::kStateOfTheWorld, Framing::kDelta),
                         [](const auto& info) {
                           return info.param == Framing::kDelta ? "Delta" : "StateOfTheWorld";
                         });

// What an operator may wish for: everything again, in the order of every push.
TEST_P(Both, AWishedPushSendsAgainWhatTheClientHasOrRejected) {
  ConnectToSmallMesh(&s);
  s.Put(kR, "r", "2");
  s.Change();
  s.Sent();
  s.Nack(kR, delta() ? Names{} : Names{"r"});
  const std::string version = s.LastVersion(kC);
  s.core().OnResend();
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b", "EDS a b", "LDS l", "RDS r"));
  EXPECT_EQ(s.LastVersion(kC), version);
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty()) << "once";

  s.mesh[kC].erase("b");
  s.core().OnResend();
  const Names with_removal = s.Sent();
  ASSERT_EQ(with_removal.size(), 5u);
  EXPECT_EQ(with_removal.front(), delta() ? "CDS a" : "CDS a b");
  EXPECT_EQ(with_removal[1], "EDS a") << "the client is about to let go of b";
  EXPECT_EQ(with_removal.back(), delta() ? "CDS -b" : "CDS a") << "removals are last even then";
}

// "Only the first request on a stream is guaranteed to carry the node"; types on one stream are independent.
TEST_P(Both, TypesOnAStreamHaveTheirOwnNoncesAndVersions) {
  s.Say(kC, {});
  s.Say(kR, {"r"});
  EXPECT_THAT(s.Sent(), ElementsAre("CDS a b", "RDS r"));
  EXPECT_NE(s.LastNonce(kC), s.LastNonce(kR));
  s.Ack(kC);
  EXPECT_EQ(s.core().Status(kC).nonce_acked, s.LastNonce(kC));
  EXPECT_EQ(s.core().Status(kR).nonce_acked, "");
  s.Say(kR, delta() ? Names{} : Names{"r"}, s.LastNonce(kC));  // the other type's nonce
  EXPECT_EQ(s.core().Status(kR).nonce_acked, "") << "answers nothing of this type";
  EXPECT_THAT(s.Sent(), IsEmpty());
}

// "ACK and NACK semantics": an ACK names the version that was taken; a NACK keeps the one before.
TEST_P(Both, ANackKeepsTheVersionThatWasTakenLast) {
  s.Say(kC, {});
  s.Sent();
  s.Ack(kC);
  const std::string taken = s.LastVersion(kC);
  s.Put(kC, "a", "2");
  s.Change();
  s.Sent();
  EXPECT_EQ(s.Nack(kC), RequestVerdict::kNack);
  const TypeStatus status = s.core().Status(kC);
  EXPECT_EQ(status.version_acked, taken);
  EXPECT_EQ(status.version_nacked, s.LastVersion(kC));
  EXPECT_EQ(status.error, "bad");
  s.Put(kC, "a", "3");
  s.Change();
  s.Sent();
  s.Ack(kC);
  EXPECT_EQ(s.core().Status(kC).error, "") << "the error is of the past";
}

// "When to send an update": a server need not wait for the ACK of the response before.
TEST_P(Both, AnUpdateDoesNotWaitForAnAnswer) {
  s.Say(kC, {});
  s.Sent();
  const std::string first = s.LastNonce(kC);
  s.Put(kC, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre(delta() ? "CDS a" : "CDS a b"));
  EXPECT_EQ(s.Say(kC, {}, first), RequestVerdict::kStale) << "the answer to what was overtaken";
  EXPECT_THAT(s.Sent(), IsEmpty());
  EXPECT_EQ(s.Ack(kC), RequestVerdict::kAck);
}

// "Each stream has its own notion of nonces."
TEST_P(Both, NoncesOfStreamsDiffer) {
  Script other(GetParam(), "m");
  other.mesh = s.mesh;
  s.Say(kC, {});
  other.Say(kC, {});
  s.Sent();
  other.Sent();
  EXPECT_EQ(s.LastVersion(kC), other.LastVersion(kC)) << "versions are of the content";
  EXPECT_EQ(s.Say(kC, {}, other.LastNonce(kC)), RequestVerdict::kStale);
}

// "How the client specifies what resources to return": names may repeat, and mean the same once.
TEST_P(Both, ANameThatIsRepeatedIsOneName) {
  s.Say(kE, {"a", "a"});
  EXPECT_THAT(s.Sent(), ElementsAre("EDS a"));
  EXPECT_EQ(s.core().Status(kE).names->size(), 1u);
}

// Resource hints: the names of a request are what the client is interested in; nothing else is sent.
TEST_P(Both, WhatWasNotAskedForIsNotSent) {
  s.Say(kE, {"a"});
  EXPECT_THAT(s.Sent(), ElementsAre("EDS a"));
  s.Put(kE, "b", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
}

// "Unsubscribing from resources": a wildcard of names alone is left by letting go of the last.
TEST_P(Both, WithoutASubscriptionNothingIsSent) {
  s.Say(kE, {"a"});
  s.Sent();
  if (delta()) {
    s.Say(kE, {}, s.LastNonce(kE), {"a"});
  } else {
    s.Ack(kE, {});
  }
  s.Put(kE, "a", "2");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
  EXPECT_FALSE(s.core().Subscribed(kE));
}

// "Knowing when a requested resource does not exist".
TEST_P(Both, WhatAppearsLaterIsSentThen) {
  s.Say(kE, {"x"});
  EXPECT_THAT(s.Sent(), delta() ? ElementsAre("EDS -x") : testing::Matcher<Names>(IsEmpty()));
  s.Put(kE, "x", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("EDS x"));
}

// "Deleting resources": a root type's response that lacks a resource deletes it, delta names it.
TEST_P(Both, DeletionOfAListener) {
  s.Put(kL, "m", "1");
  s.Say(kL, {});
  EXPECT_THAT(s.Sent(), ElementsAre("LDS l m"));
  s.Ack(kL);
  s.mesh[kL].erase("m");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre(delta() ? "LDS -m" : "LDS l"));
}

// The last one as well: an empty response means that there are none.
TEST_P(Both, DeletionOfTheLastListener) {
  s.Say(kL, {});
  s.Sent();
  s.Ack(kL);
  s.mesh[kL].clear();
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre(delta() ? "LDS -l" : "LDS"));
}

// "Eventual consistency considerations": clusters, their endpoints, listeners, their routes; and what is
// gone, last.
TEST_P(Both, MakeBeforeBreak) {
  s.Say(kC, {});
  s.Say(kE, {"a", "b"});
  s.Say(kL, {});
  s.Say(kR, {"r"});
  s.Sent();
  s.Put(kC, "n", "1");
  s.Put(kL, "l", "2", {"r"});
  s.Put(kR, "r", "2");
  s.mesh[kC].erase("b");
  s.mesh[kE].erase("b");
  s.Change();
  const Names sent = s.Sent();
  ASSERT_EQ(sent.size(), 4u);
  EXPECT_EQ(sent[0], delta() ? "CDS n" : "CDS a b n") << "the old cluster stays for the old routes";
  EXPECT_EQ(sent[1], "LDS l");
  EXPECT_EQ(sent[2], "RDS r");
  EXPECT_EQ(sent[3], delta() ? "CDS -b" : "CDS a n");
}

// Incremental: "subscribe to and unsubscribe from resources at any time", also without answering anything.
TEST(DeltaProtocol, ARequestWithoutANonceChangesTheSubscription) {
  Script s(Framing::kDelta);
  s.Put(kE, "a", "1");
  s.Put(kE, "b", "1");
  s.Say(kE, {"a"});
  s.Sent();
  s.Say(kE, {"b"});
  EXPECT_THAT(s.Sent(), ElementsAre("EDS b"));
  EXPECT_EQ(s.core().Status(kE).nonce_acked, "");
}

// "initial_resource_versions ... must only be set in the first request of the type".
TEST(DeltaProtocol, InitialVersionsCountInTheFirstRequestAlone) {
  Script s(Framing::kDelta);
  s.Put(kE, "a", "1");
  s.Put(kE, "b", "1");
  s.Say(kE, {"a"});
  s.Sent();
  s.Say(kE, {"b"}, "", {}, {{"b", s.VersionOf(kE, "b")}});
  EXPECT_THAT(s.Sent(), ElementsAre("EDS b"));
}

// A name that is both taken up and let go of in one request is not subscribed to.
TEST(DeltaProtocol, SubscribeAndUnsubscribeInOneRequest) {
  Script s(Framing::kDelta);
  s.Put(kE, "a", "1");
  s.Say(kE, {"a"}, "", {"a"});
  s.Change();
  s.Sent();
  EXPECT_FALSE(s.core().Subscribed(kE));
}

// A named resource that is gone is reported, and again when it is asked for anew; when it is back it is sent.
TEST(DeltaProtocol, TheLifeOfANamedResource) {
  Script s(Framing::kDelta);
  s.Put(kR, "r", "1");
  s.Say(kR, {"r"});
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
  s.mesh[kR].erase("r");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS -r"));
  s.Say(kR, {"r"}, s.LastNonce(kR));
  EXPECT_THAT(s.Sent(), ElementsAre("RDS -r"));
  s.Put(kR, "r", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), ElementsAre("RDS r"));
}

// On-demand virtual hosts are a matter of the incremental variant.
TEST(DeltaProtocol, VirtualHostsAreNotOfTheStateOfTheWorld) {
  Script delta(Framing::kDelta), sotw(Framing::kStateOfTheWorld);
  delta.Put(TypeId::kVirtualHost, "r/h", "1");
  sotw.mesh = delta.mesh;
  delta.Say(TypeId::kVirtualHost, {"r/h"});
  EXPECT_THAT(delta.Sent(), ElementsAre("VHDS r/h"));
  EXPECT_EQ(sotw.Say(TypeId::kVirtualHost, {"r/h"}), RequestVerdict::kUnknownType);
  EXPECT_THAT(sotw.Sent(), IsEmpty());
}

// "REST-JSON polling": a single request is answered whatever there is.
TEST(Polls, ASingleRequestIsAlwaysAnswered) {
  Script s(Framing::kStateOfTheWorld, "n", AnswerWhen::kAlways);
  s.Say(kE, {"x"});
  EXPECT_THAT(s.Sent(), ElementsAre("EDS"));
}

// "the management server may hold the request until there is another version".
TEST(Polls, AKnownVersionIsAnsweredWhenItChanges) {
  Script first(Framing::kStateOfTheWorld, "n", AnswerWhen::kNewVersionOnly);
  first.Put(kE, "a", "1");
  first.Say(kE, {"a"});
  EXPECT_THAT(first.Sent(), ElementsAre("EDS a"));

  StreamCore core(Framing::kStateOfTheWorld, ~0u, "m", AnswerWhen::kNewVersionOnly);
  const std::string version = first.LastVersion(kE);
  const std::string_view name = "a";
  DecodedRequest request;
  request.type_url = InfoOf(kE).url;
  request.version = version;
  request.subscribe = {name};
  core.OnRequest(request);
  ASSERT_TRUE(core.Next());
  EXPECT_FALSE(core.Offer(kE, ResourceSet::Of({first.mesh[kE]["a"]})));
  EXPECT_FALSE(core.Next());
  core.OnChange();
  ASSERT_TRUE(core.Next());
  EXPECT_TRUE(core.Offer(kE, ResourceSet::Empty())) << "that all is gone is another version";
}

// "Rejecting an update": the client goes on naming the version that it has, and is not sent the other again.
TEST(Polls, ARejectedVersionIsNotSentAgain) {
  Script first(Framing::kStateOfTheWorld, "n", AnswerWhen::kNewVersionOnly);
  first.Put(kE, "a", "bad");
  first.Say(kE, {"a"});
  EXPECT_THAT(first.Sent(), ElementsAre("EDS a"));

  Script second(Framing::kStateOfTheWorld, "m", AnswerWhen::kNewVersionOnly);
  second.mesh = first.mesh;
  second.Say(kE, {"a"}, first.LastNonce(kE), {}, {}, "cannot be");
  EXPECT_THAT(second.Sent(), IsEmpty());
  second.Put(kE, "a", "good");
  second.Change();
  EXPECT_THAT(second.Sent(), ElementsAre("EDS a"));
}

}  // namespace
}  // namespace fairlead::xds
