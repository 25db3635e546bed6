#include "xds/acceptance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "xds/scripted_stream.h"

// What a stream knows of what its client took.
namespace fairlead::xds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AcceptanceTest : public testing::TestWithParam<Framing> {
 protected:
  AcceptanceTest() {
    for (const char* name : {"a", "b", "c"}) s.Put(kL, name, "1");
  }
  void Connect() {
    s.Say(kL, {});
    s.Sent();
    s.Ack(kL);
  }
  void Change(const std::string& name, const std::string& content) {
    s.Put(kL, name, content);
    s.Change();
    s.Sent();
  }
  void Reject(const std::string& error) { s.Say(kL, {}, s.LastNonce(kL), {}, {}, error); }
  // "a" for one that the client lacks, "a=HASH" where it has another version.
  Names Refused() {
    Names out;
    for (const auto& one : s.core().Status(kL).refused) {
      out.push_back(one.wanted->name.str());
      if (one.has != nullptr) StrAppend(&out.back(), "=", ToHex(one.has->hash));
    }
    return out;
  }
  std::string Old(const std::string& name) {
    return StrCat(name, "=", ToHex(MakeResource(kL, name, "1")->hash));
  }
  Script s{GetParam()};
};

TEST_P(AcceptanceTest, WhatIsAcceptedIsNotCopied) {
  Connect();
  EXPECT_FALSE(s.core().Behind(kL));
  EXPECT_EQ(s.core().Status(kL).accepted, s.core().Status(kL).sent);
  EXPECT_THAT(Refused(), IsEmpty());
}

TEST_P(AcceptanceTest, WhatIsMadeAnewAndTheSameIsNotKeptTwice) {
  Connect();
  s.Put(kL, "a", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
  EXPECT_EQ(s.core().Status(kL).accepted, s.core().Status(kL).sent);
  Change("a", "2");
  s.Put(kL, "b", "1");
  s.Change();
  EXPECT_THAT(s.Sent(), IsEmpty());
  s.Ack(kL);
  EXPECT_EQ(s.core().Status(kL).accepted, s.core().Status(kL).sent);
}

TEST_P(AcceptanceTest, TheOneThatIsNamedIsRefusedAndTheRestIsTaken) {
  Connect();
  s.Put(kL, "a", "2");
  s.Put(kL, "d", "1");
  Change("b", "2");
  Reject("Error adding/updating listener(s) b: script load error: [string]:1: '=' expected\n");
  EXPECT_TRUE(s.core().Behind(kL));
  EXPECT_THAT(Refused(), ElementsAre(Old("b")));
  Change("b", "3");
  s.Ack(kL);
  EXPECT_FALSE(s.core().Behind(kL));
  EXPECT_THAT(Refused(), IsEmpty());
}

TEST_P(AcceptanceTest, WhereNoneIsNamedAllThatChangedIsRefused) {
  Connect();
  s.Put(kL, "d", "1");
  Change("b", "2");
  Reject("Proto constraint validation failed");
  EXPECT_THAT(Refused(), ElementsAre(Old("b"), "d"));
}

TEST_P(AcceptanceTest, WhatIsRefusedStaysSoWhileOthersAreTaken) {
  Connect();
  Change("b", "2");
  Reject("Error adding/updating listener(s) b: bad");
  Change("c", "2");
  if (GetParam() == Framing::kDelta) {
    s.Ack(kL);
  } else {
    Reject("Error adding/updating listener(s) b: bad");  // it is in every response
  }
  EXPECT_THAT(Refused(), ElementsAre(Old("b")));
  EXPECT_EQ(s.core().Status(kL).accepted->Find("c")->hash, s.mesh[kL]["c"]->hash);
}

TEST_P(AcceptanceTest, ALateRejectionCounts) {
  Connect();
  Change("b", "2");
  const std::string first = s.LastNonce(kL);
  Change("c", "2");
  EXPECT_EQ(s.Say(kL, {}, first, {}, {}, "Error adding/updating listener(s) b: bad"), RequestVerdict::kStale);
  EXPECT_THAT(Refused(), ElementsAre(Old("b")));
  if (GetParam() == Framing::kDelta) {
    s.Ack(kL);
    EXPECT_THAT(Refused(), ElementsAre(Old("b"))) << "b was not in it";
  }
}

TEST_P(AcceptanceTest, ManyUnansweredResponsesCountTogether) {
  Connect();
  std::string second;
  for (int i = 2; i < 12; ++i) {
    Change("b", StrCat(i));
    if (i == 3) second = s.LastNonce(kL);
  }
  s.Say(kL, {}, second, {}, {}, "Error adding/updating listener(s) b: bad");
  EXPECT_THAT(Refused(), ElementsAre(Old("b")));
  s.Ack(kL);
  EXPECT_THAT(Refused(), IsEmpty());
}

TEST_P(AcceptanceTest, WhatIsGoneIsNotRefusedAnyMore) {
  Connect();
  Change("b", "2");
  Reject("Error adding/updating listener(s) b: bad");
  s.mesh[kL].erase("b");
  s.Change();
  s.Sent();
  s.Ack(kL);
  EXPECT_THAT(Refused(), IsEmpty());
  EXPECT_FALSE(s.core().Behind(kL));
}

TEST_P(AcceptanceTest, WhatIsSentAgainAndTakenIsAccepted) {
  Connect();
  Change("b", "2");
  Reject("Error adding/updating listener(s) b: unable to open file");
  s.core().OnResend();
  EXPECT_THAT(s.Sent(), ElementsAre("LDS a b c"));
  s.Ack(kL);
  EXPECT_THAT(Refused(), IsEmpty());
}

TEST_P(AcceptanceTest, ANewClientThatTakesNothingHasNothing) {
  s.Say(kL, {});
  s.Sent();
  Reject("bad");
  EXPECT_THAT(Refused(), ElementsAre("a", "b", "c"));
  EXPECT_FALSE(s.core().Status(kL).accepted_unknown);
}

TEST_P(AcceptanceTest, ALongErrorIsCut) {
  s.Say(kL, {});
  s.Sent();
  Reject(std::string(1 << 20, 'x'));
  EXPECT_LE(s.core().Status(kL).error.size(), 16u << 10);
}

INSTANTIATE_TEST_SUITE_P(BothFramings, AcceptanceTest,
                         testing::Values(Framing::kStateOfTheWorld, Framing::kDelta));

TEST(Acceptance, OfAClientThatConnectsAgainTheVersionsAreKnownByHash) {
  Script s(Framing::kDelta);
  s.Put(kL, "a", "2");
  const std::string old = ToHex(MakeResource(kL, "a", "1")->hash);
  s.Say(kL, {}, "", {}, {{"a", old}});
  s.Sent();
  s.Nack(kL);
  const TypeStatus status = s.core().Status(kL);
  ASSERT_EQ(status.refused.size(), 1u);
  ASSERT_NE(status.refused[0].has, nullptr);
  EXPECT_EQ(ToHex(status.refused[0].has->hash), old);
}

TEST(Acceptance, OneThatConnectsAgainWithAVersionHasSomething) {
  Script s(Framing::kStateOfTheWorld);
  s.Put(kL, "a", "2");
  envoy::service::discovery::v3::DiscoveryRequest request;
  request.set_type_url(std::string(InfoOf(kL).url));
  request.set_version_info("0123");
  s.core().OnRequest(*s.core().Decode(request.SerializeAsString()));
  s.Sent();
  s.Nack(kL);
  EXPECT_TRUE(s.core().Status(kL).accepted_unknown);
}

TEST(ReasonsByName, EachNameHasItsReason) {
  const auto sent = [](std::string_view name) { return name == "a" || name == "::_80"; };
  const auto reasons =
      ReasonsByName("Error adding/updating listener(s) a: x: y, z\n::_80: of b: c\nd: e\n", sent);
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].name, "a");
  EXPECT_EQ(reasons[0].reason, "x: y, z");
  EXPECT_EQ(reasons[1].name, "::_80");
  EXPECT_EQ(reasons[1].reason, "of b: c\nd: e");
  EXPECT_TRUE(ReasonsByName("a: x", sent).empty());
  EXPECT_TRUE(ReasonsByName("", sent).empty());
  EXPECT_EQ(ReasonsByName("Error adding/updating cluster(s) a: x, ::_80: y", sent).size(), 2u);
}

}  // namespace
}  // namespace fairlead::xds
