#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "kube/list_watch_fixture.h"

namespace fairlead::kube {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Trouble = ListWatch::Trouble;

TEST_F(ListWatchTest, AnEmptyCollectionIsSynced) {
  Request();
  Answer(200, R"({"metadata":{"resourceVersion":"3"},"items":null})");
  EXPECT_TRUE(Watch().synced());
}

TEST_F(ListWatchTest, EventsAreTakenInTheirOrderHoweverTheyAreCut) {
  Begin();
  const std::string events = Event("ADDED", Object("c", "11")) + Event("MODIFIED", Object("a", "12")) + "\n" +
                             Event("DELETED", Object("b", "13"));
  for (const char byte : events) Send(std::string(1, byte));
  EXPECT_THAT(Names(), ElementsAre("a", "c"));
  EXPECT_EQ(copy_.objects["a"], "12");
  EXPECT_EQ(Watch().version(), "13");
}

TEST_F(ListWatchTest, DuplicatesChangeNothing) {
  Begin();
  Send(Event("ADDED", Object("a", "8")) + Event("ADDED", Object("a", "8")) +
       Event("DELETED", Object("x", "11")));
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
}

TEST_F(ListWatchTest, AWatchThatEndedGoesOnFromTheLastVersion) {
  Begin();
  Send(Event("MODIFIED", Object("a", "12")) + R"({"type":"MODI)");
  Pass(2s);
  Watch().OnEnd(now_, {});
  EXPECT_THAT(Request(), HasSubstr("resourceVersion=12&"));
  EXPECT_EQ(waited_, 0ms);
  Send(R"(FIED"})");
  EXPECT_EQ(copy_.lists, 1);
}

TEST_F(ListWatchTest, BookmarksMoveTheVersion) {
  Begin();
  Send(Event("BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":"500"}})"));
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
  Watch().OnEnd(now_, {});
  EXPECT_THAT(Request(), HasSubstr("resourceVersion=500&"));
}

TEST_F(ListWatchTest, AVersionThatIsGoneIsListedAnewAndWhatVanishedGoes) {
  Begin();
  Answer(410, R"({"kind":"Status","message":"too old resource version"})");
  EXPECT_EQ(Request(), "/api/v1/pods?limit=500");
  EXPECT_THAT(Names(), ElementsAre("a", "b")) << "until it is known";
  Answer(200, List("20", {Object("b", "9"), Object("c", "15")}));
  EXPECT_THAT(Names(), ElementsAre("b", "c"));
  EXPECT_THAT(Request(), HasSubstr("resourceVersion=20&"));
}

TEST_F(ListWatchTest, AnErrorInsideOfAStreamEndsIt) {
  Begin();
  Send(Error(410) + Event("ADDED", Object("late", "11")));
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_FALSE(Watch().TakeCancel()) << "once";
  EXPECT_EQ(Request(), "/api/v1/pods?limit=500");
  EXPECT_THAT(Names(), ElementsAre("a", "b")) << "what comes behind it does not count";
  EXPECT_GE(waited_, 250ms);
}

TEST_F(ListWatchTest, OtherErrorsInsideOfAStreamGoOnFromTheLastVersion) {
  Begin();
  Send(Event("MODIFIED", Object("a", "12")) + Error(500));
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_EQ(Watch().trouble(), Trouble::kServer);
  EXPECT_THAT(Watch().trouble_text(), HasSubstr("too old"));
  EXPECT_THAT(Request(), HasSubstr("resourceVersion=12&"));
}

TEST_F(ListWatchTest, AVersionThatKeepsFailingIsListedAnew) {
  Begin();
  int watches = 0;
  Send(Error(504));
  EXPECT_TRUE(Watch().TakeCancel());
  while (Request().find("watch=1") != std::string::npos && ++watches < 20) {
    Watch().OnStatus(now_, 200);
    Send(Error(504));
    EXPECT_TRUE(Watch().TakeCancel());
  }
  EXPECT_EQ(watches, 4);
}

TEST_F(ListWatchTest, AListThatIsForgottenBeginsAnew) {
  Request();
  Answer(200, List("10", {Object("a", "1"), Object("gone", "1")}, "next"));
  Request();
  Answer(410, "{}");
  EXPECT_EQ(Request(), "/api/v1/pods?limit=500");
  Answer(200, List("11", {Object("a", "1")}, "next"));
  Request();
  Answer(410, "{}");
  EXPECT_EQ(Request(), "/api/v1/pods") << "then without chunks";
  Answer(200, List("12", {Object("a", "1"), Object("b", "2")}));
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
  EXPECT_TRUE(Watch().synced());
}

TEST_F(ListWatchTest, FailuresAreRepeatedLessAndLess) {
  std::vector<std::chrono::milliseconds> waits;
  for (int i = 0; i < 10; ++i) {
    Request();
    waits.push_back(waited_);
    Answer(503, "");
  }
  EXPECT_EQ(waits[0], 0ms);
  for (size_t i = 1; i < waits.size(); ++i) {
    const auto most = std::min<std::chrono::milliseconds>(500ms * (1 << (i - 1)), 30s);
    EXPECT_GE(waits[i], most / 2);
    EXPECT_LE(waits[i], most);
  }
  Request();
  Answer(200, List("10", {}));
  Request();
  Watch().OnEnd(now_, {AnswerEnd::Reason::kBroken, "connection refused"});
  Request();
  EXPECT_LE(waited_, 500ms) << "a success forgets them";
}

TEST_F(ListWatchTest, JitterDependsOnTheSeed) {
  std::set<std::chrono::milliseconds> waits;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    options_.seed = seed;
    watch_ = nullptr;
    Request();
    Answer(500, "");
    Request();
    waits.insert(waited_);
  }
  EXPECT_GT(waits.size(), 4u);
}

TEST_F(ListWatchTest, RetryAfterIsHeededWithinBounds) {
  Request();
  Answer(429, "", {.retry_after = 7s});
  EXPECT_EQ(Watch().trouble(), Trouble::kServer);
  Request();
  EXPECT_GE(waited_, 7s);
  EXPECT_LE(waited_, 8s);
  Answer(429, "", {.retry_after = 86400s});
  Request();
  EXPECT_LE(waited_, 331s);
}

TEST_F(ListWatchTest, ASilentWatchIsGivenUpAndGoesOn) {
  Begin();
  Pass(149s);
  EXPECT_FALSE(Watch().TakeCancel());
  Send(Event("BOOKMARK", Object("", "50")));
  Pass(149s);
  EXPECT_FALSE(Watch().TakeCancel()) << "bytes are news";
  Pass(2s);
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_THAT(Request(), HasSubstr("resourceVersion=50&"));
  EXPECT_EQ(copy_.lists, 1);
}

TEST_F(ListWatchTest, AListThatHangsIsGivenUp) {
  Request();
  Pass(14s);
  EXPECT_FALSE(Watch().TakeCancel());
  Pass(1s);
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_EQ(Watch().trouble(), Trouble::kUnreachable);
  EXPECT_EQ(Request(), "/api/v1/pods?resourceVersion=0&limit=500");
  Pass(29s);
  EXPECT_FALSE(Watch().TakeCancel()) << "a slow server is given more time";
}

TEST_F(ListWatchTest, AWatchThatNeverEndsIsGivenUp) {
  Begin();
  for (int i = 0; i < 7 && !Watch().TakeCancel(); ++i) {
    Send(" \n");
    Pass(100s);
  }
  EXPECT_THAT(Request(), HasSubstr("resourceVersion=10&"));
}

TEST_F(ListWatchTest, AWatchThatEndsAtOnceIsNoSuccess) {
  Begin();
  Watch().OnEnd(now_, {});
  Request();
  EXPECT_GE(waited_, 250ms);
}

TEST_F(ListWatchTest, RefusalsAreToldApart) {
  constexpr char kForbidden[] =
      R"({"kind":"Status","message":"secrets is forbidden: User \"u\" cannot list"})";
  Request();
  Answer(403, kForbidden);
  EXPECT_EQ(Watch().trouble(), Trouble::kForbidden);
  EXPECT_EQ(Watch().trouble_text(), "403: secrets is forbidden: User \"u\" cannot list");
  Request();
  Answer(401, "");
  EXPECT_EQ(Watch().trouble(), Trouble::kUnauthorized);
  Request();
  Answer(404, "404 page not found");
  EXPECT_EQ(Watch().trouble(), Trouble::kNotServed);
  Request();
  Answer(200, List("1", {}));
  EXPECT_EQ(Watch().trouble(), Trouble::kNone);
  EXPECT_EQ(Watch().trouble_text(), "");
}

TEST_F(ListWatchTest, ARefusedWatchKeepsWhatIsKnown) {
  Begin();
  Answer(403, "{}");
  EXPECT_EQ(Watch().trouble(), Trouble::kForbidden);
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
  EXPECT_TRUE(Watch().synced());
  EXPECT_THAT(Request(), HasSubstr("resourceVersion=10&"));
  Watch().OnStatus(now_, 200);
  EXPECT_EQ(Watch().trouble(), Trouble::kNone);
}

TEST_F(ListWatchTest, SenselessAnswersAreNotBelieved) {
  for (const char* text :
       {"", "no JSON", "[]", "{}", R"({"metadata":{}})", R"({"metadata":{"resourceVersion":7}})",
        R"({"metadata":{"resourceVersion":"7"},"items":{"a":1}})"}) {
    Request();
    Answer(200, text);
    EXPECT_FALSE(Watch().synced()) << text;
    EXPECT_EQ(Watch().trouble(), Trouble::kUnreachable) << text;
  }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ListWatchTest, ASenselessEventIsListedAnew) {
  for (const char* text : {"no JSON\n", "{}\n",
                           R"({"type":"ADDED"})"
                           "\n",
                           R"({"type":"ADDED","object":[]})"
                           "\n"}) {
    watch_ = nullptr;
    Begin();
    Send(text);
    EXPECT_TRUE(Watch().TakeCancel()) << text;
    EXPECT_EQ(Request(), "/api/v1/pods?limit=500") << text;
  }
}

TEST_F(ListWatchTest, AListWithoutAnEndIsGivenUp) {
  options_.most_chunks = 3;
  std::vector<std::string> requests;
  for (int i = 0; i < 5; ++i) {
    requests.push_back(Request());
    Answer(200, List("10", {}, StrCat("next", i)));
  }
  EXPECT_EQ(requests[4], "/api/v1/pods?resourceVersion=0&limit=500") << "from the start";
  Request();
  Answer(200, List("10", {}, "same"));
  Request();
  Answer(200, List("10", {}, "same"));
  EXPECT_THAT(Watch().trouble_text(), HasSubstr("no end"));
}

TEST_F(ListWatchTest, AListThatIsTooLargeIsAskedForInChunksAndThenInSmallerOnes) {
  options_.most_list_bytes = 1000;
  Request();
  Watch().OnStatus(now_, 200);
  Send(std::string(1001, ' '));
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_EQ(Request(), "/api/v1/pods?limit=500");
  Watch().OnStatus(now_, 200);
  Send(std::string(1001, ' '));
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_EQ(Request(), "/api/v1/pods?limit=125");
  Watch().OnStatus(now_, 200);
  Watch().OnEnd(now_, {AnswerEnd::Reason::kTooLarge});
  EXPECT_EQ(Request(), "/api/v1/pods?limit=31");
}

TEST_F(ListWatchTest, AnEventThatIsTooLargeIsListed) {
  options_.most_object_bytes = 100;
  Begin();
  Send(std::string(101, 'x'));
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_EQ(Request(), "/api/v1/pods?limit=500");
}

TEST_F(ListWatchTest, WhatComesWithoutAnExchangeIsNothing) {
  Watch().OnStatus(now_, 200);
  Watch().OnBytes(now_, List("10", {Object("a", "1")}));
  Watch().OnEnd(now_, {});
  EXPECT_FALSE(Watch().synced());
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ListWatchTest, HurryEndsAWait) {
  Request();
  Answer(404, "");
  EXPECT_FALSE(Watch().TakeRequest(now_));
  Watch().Hurry(now_);
  EXPECT_TRUE(Watch().TakeRequest(now_));
}

// Whatever comes, in whatever order: it does not crash, and there is always something to wait for.
TEST_F(ListWatchTest, AnyBytesAtAnyTime) {
  std::mt19937_64 random(7);
  const std::vector<std::string> pieces = {List("10", {Object("a", "1")}),
                                           List("11", {Object("b", "1")}, "n"),
                                           Event("ADDED", Object("c", "2")),
                                           Error(410),
                                           Error(500),
                                           Event("BOOKMARK", Object("", "9")),
                                           "\n",
                                           "{",
                                           "\"",
                                           "x"};
  for (int round = 0; round < 200; ++round) {
    watch_ = nullptr;
    for (int step = 0; step < 60; ++step) {
      Watch().TakeCancel();
      Watch().TakeRequest(now_);
      const int statuses[] = {200, 200, 200, 200, 410, 429, 500, 403, 0};
      switch (random() % 6) {
        case 0:
          Watch().OnStatus(now_, statuses[random() % 9]);
          break;
        case 1:
        case 2:
        case 3:
          Send(pieces[random() % pieces.size()]);
          break;
        case 4:
          Watch().OnEnd(now_, {static_cast<AnswerEnd::Reason>(random() % 3), "m"});
          break;
        default:
          Pass(std::chrono::milliseconds(random() % 200'000));
      }
      ASSERT_LT(Watch().NextTick(), now_ + std::chrono::hours(1));
    }
  }
}

}  // namespace
}  // namespace fairlead::kube
