#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "base/strings.h"
#include "xds/scripted_stream.h"

// What a client may ask for on one stream, and what it costs.
namespace fairlead::xds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr RequestLimits kSmall = {.names = 3, .name_bytes = 10, .name_length = 6};

class LimitsTest : public testing::TestWithParam<Framing> {
 protected:
  Script script_{GetParam(), "n", AnswerWhen::kWhatDiffers, kSmall};
};
INSTANTIATE_TEST_SUITE_P(Both, LimitsTest, testing::Values(Framing::kStateOfTheWorld, Framing::kDelta));

TEST_P(LimitsTest, OfNames) {
  EXPECT_EQ(script_.Say(kE, {"a", "b", "c"}), RequestVerdict::kSubscribe);
  EXPECT_EQ(script_.Excess(), "");
  EXPECT_EQ(script_.Say(kR, {"a", "b", "c"}), RequestVerdict::kSubscribe) << "each type for itself";
  EXPECT_EQ(script_.Say(kE, {"a", "b", "c", "d"}), RequestVerdict::kTooMuch);
  EXPECT_EQ(script_.Excess(), "4 names, of at most 3");
}

TEST_P(LimitsTest, OfBytes) {
  EXPECT_EQ(script_.Say(kE, {"12345", "12346"}), RequestVerdict::kSubscribe);
  EXPECT_EQ(script_.Say(kE, {"12345", "12346", "1"}), RequestVerdict::kTooMuch);
  EXPECT_EQ(script_.Excess(), "names of 11 bytes, of at most 10");
}

TEST_P(LimitsTest, OfOneName) {
  EXPECT_EQ(script_.Say(kE, {"123456"}), RequestVerdict::kSubscribe);
  EXPECT_EQ(script_.Say(kE, {"1234567"}), RequestVerdict::kTooMuch);
  EXPECT_EQ(script_.Excess(), "a name of 7 bytes, of at most 6");
}

class DeltaLimits : public testing::Test {
 protected:
  Script script_{Framing::kDelta, "n", AnswerWhen::kWhatDiffers, kSmall};
};

TEST_F(DeltaLimits, NamesAddUp) {
  script_.Say(kE, {"a", "b"});
  EXPECT_EQ(script_.Say(kE, {"b", "c"}), RequestVerdict::kSubscribe);
  EXPECT_EQ(script_.Say(kE, {"d"}, "", {"a"}), RequestVerdict::kSubscribe) << "one went";
  EXPECT_EQ(script_.Say(kE, {"a"}), RequestVerdict::kTooMuch);
}

TEST_F(DeltaLimits, CountWhatTheClientSaysToHave) {
  EXPECT_EQ(script_.Say(kC, {}, "", {}, {{"a", "1"}, {"b", "1"}, {"c", "1"}}), RequestVerdict::kSubscribe);
  Script other(Framing::kDelta, "n", AnswerWhen::kWhatDiffers, kSmall);
  EXPECT_EQ(other.Say(kC, {}, "", {}, {{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}}),
            RequestVerdict::kTooMuch);
}

TEST_F(DeltaLimits, CountWhatIsAskedForAnewUnderAWildcard) {
  script_.Say(kC, {});
  EXPECT_EQ(script_.Say(kC, {}, "", {"a", "b", "c"}), RequestVerdict::kSubscribe);
  EXPECT_EQ(script_.Say(kC, {}, "", {"a", "b"}), RequestVerdict::kSubscribe) << "the same again";
  EXPECT_EQ(script_.Say(kC, {}, "", {"d"}), RequestVerdict::kTooMuch);
}

TEST_F(DeltaLimits, NamesThatComeAndGoAreNotKept) {
  script_.Put(kE, "x", "1");
  script_.Say(kE, {"x"});
  script_.Sent();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(script_.Say(kE, {StrCat("n", i)}), RequestVerdict::kSubscribe);
    EXPECT_EQ(script_.Say(kE, {}, "", {StrCat("n", i)}), RequestVerdict::kUnsubscribe);
  }
  EXPECT_THAT(script_.Sent(), IsEmpty());
}

class OneByOne : public testing::Test {
 protected:
  static constexpr size_t kNames = 1000;
  // Subscribes to so many names one by one, each answered before the next one.
  void AskForAll() {
    script_.Say(kE, {});
    for (size_t i = 0; i < kNames; ++i) {
      script_.Say(kE, {StrCat("name-", i)});
      script_.Sent();
    }
  }
  Script script_{Framing::kDelta};
};

// Counts what is made, and the resources that are copied into new lists.
TEST_F(OneByOne, IsLinearWork) {
  for (size_t i = 0; i < kNames; ++i) script_.Put(kE, StrCat("name-", i), "1");
  script_.Say(kE, {});
  size_t copied = 0, most_parts = 0;
  ResourceListPtr last;
  for (size_t i = 0; i < kNames; ++i) {
    script_.Say(kE, {StrCat("name-", i)});
    ASSERT_THAT(script_.Sent(), ElementsAre(StrCat("EDS name-", i)));
    const auto& parts = script_.core().Status(kE).sent->parts();
    most_parts = std::max(most_parts, parts.size());
    copied += parts.back()->size();
  }
  EXPECT_EQ(script_.MadeNames(), kNames);
  EXPECT_LT(copied, 12 * kNames) << "about log n times each";
  EXPECT_LT(most_parts, 14u);
  script_.Change();
  EXPECT_THAT(script_.Sent(), IsEmpty()) << "and the client is known to have all";
}

TEST_F(OneByOne, MadeUpNamesAreAnsweredAndForgotten) {
  AskForAll();
  EXPECT_EQ(script_.MadeNames(), kNames);
  EXPECT_EQ(script_.core().Status(kE).sent->size(), 0u);
  EXPECT_EQ(script_.core().Status(kE).names->size(), kNames);
}

TEST_F(OneByOne, WhatIsNewIsSentAloneAndCountsFromThenOn) {
  script_.Put(kE, "a", "1");
  script_.Put(kE, "b", "1");
  script_.Say(kE, {"a"});
  script_.Sent();
  const size_t made = script_.MadeNames();
  script_.Say(kE, {"b", "c"});
  EXPECT_THAT(script_.Sent(), ElementsAre("EDS b -c"));
  EXPECT_EQ(script_.MadeNames(), made + 2);
  script_.Put(kE, "b", "2");
  script_.Put(kE, "c", "1");
  script_.Change();
  EXPECT_THAT(script_.Sent(), ElementsAre("EDS b c"));
  script_.Say(kE, {"b"});
  EXPECT_THAT(script_.Sent(), ElementsAre("EDS b")) << "asked for anew";
  EXPECT_EQ(script_.core().Status(kE).sent->size(), 3u);
}

}  // namespace
}  // namespace fairlead::xds
