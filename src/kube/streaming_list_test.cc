#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"
#include "kube/list_watch_fixture.h"

namespace fairlead::kube {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StreamingListTest : public ListWatchTest {
 protected:
  StreamingListTest() { options_.streaming = true; }
  static std::string End(std::string_view version) {
    return Event("BOOKMARK", StrCat(R"({"metadata":{"resourceVersion":")", version,
                                    R"(","annotations":{"k8s.io/initial-events-end":"true","other":"x"}}})"));
  }
  static std::string Bookmark(std::string_view version) {
    return Event("BOOKMARK", StrCat(R"({"metadata":{"resourceVersion":")", version, R"("}})"));
  }
};

TEST_F(StreamingListTest, TheListIsTheFirstEventsOfTheWatch) {
  EXPECT_THAT(Request(), ::testing::StartsWith(
                             "/api/v1/pods?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&watch=1&"
                             "allowWatchBookmarks=true&resourceVersion=&timeoutSeconds="));
  Watch().OnStatus(now_, 200);
  Send(StrCat(Event("ADDED", Object("a", "8")), Event("ADDED", Object("b", "9"))));
  EXPECT_FALSE(Watch().synced());
  Send(Bookmark("9"));
  EXPECT_FALSE(Watch().synced()) << "that is no end";
  Send(End("10"));
  EXPECT_TRUE(Watch().synced());
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
  Send(Event("DELETED", Object("a", "11")));
  EXPECT_THAT(Names(), ElementsAre("b"));
  Pass(options_.list_silence + 1s);
  EXPECT_FALSE(Watch().TakeCancel()) << "it is a watch now";
  Watch().OnEnd(now_, {});
  EXPECT_THAT(Request(),
              ::testing::StartsWith("/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=11&"));
}

TEST_F(StreamingListTest, WhatVanishedMeanwhileGoes) {
  Request();
  Watch().OnStatus(now_, 200);
  Send(StrCat(Event("ADDED", Object("a", "8")), Event("ADDED", Object("b", "9")), End("10"), Error(410)));
  Watch().TakeCancel();
  EXPECT_THAT(Request(), HasSubstr("sendInitialEvents")) << "the next list streams, too";
  Watch().OnStatus(now_, 200);
  Send(Event("ADDED", Object("b", "9")));
  EXPECT_THAT(Names(), ElementsAre("a", "b")) << "not before its end";
  Send(End("12"));
  EXPECT_THAT(Names(), ElementsAre("b"));
}

TEST_F(StreamingListTest, AServerWithoutIsListedAtOnce) {
  Request();
  Answer(422, R"({"kind":"Status","message":"sendInitialEvents is forbidden"})");
  EXPECT_EQ(Watch().TakeRequest(now_).value().path, "/api/v1/pods?resourceVersion=0&limit=500")
      << "without a pause";
  EXPECT_EQ(Watch().failures(), 0u);
  Answer(200, List("10", {Object("a", "8")}));
  EXPECT_TRUE(Watch().synced());
  Request();
  Answer(410, "");
  EXPECT_EQ(Request(), "/api/v1/pods?limit=500") << "it is not asked again";
}

// As one with an etcd before 3.4.25 does.
TEST_F(StreamingListTest, AServerMayRefuseInsideOfTheStream) {
  Request();
  Watch().OnStatus(now_, 200);
  Send(Error(500));
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_EQ(Watch().TakeRequest(now_).value().path, "/api/v1/pods?resourceVersion=0&limit=500")
      << "without a pause";
  EXPECT_EQ(Watch().failures(), 0u);
}

// Older servers pass over what they do not know: all objects come, but never the end.
TEST_F(StreamingListTest, AListThatComesToNoEndIsListed) {
  Request();
  Watch().OnStatus(now_, 200);
  Send(Event("ADDED", Object("a", "8")));
  Pass(options_.list_silence + 1s);
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_FALSE(Watch().synced());
  EXPECT_EQ(Request(), "/api/v1/pods?resourceVersion=0&limit=500");
}

TEST_F(StreamingListTest, AStreamThatBreaksIsListed) {
  Request();
  Watch().OnStatus(now_, 200);
  Send(Event("ADDED", Object("a", "8")));
  Watch().OnEnd(now_, {AnswerEnd::Reason::kBroken, "reset"});
  EXPECT_EQ(Request(), "/api/v1/pods?resourceVersion=0&limit=500");
}

TEST_F(StreamingListTest, ABusyServerIsAskedTheSameAgain) {
  Request();
  Answer(429, "", {.retry_after = 2s});
  EXPECT_THAT(Request(), HasSubstr("sendInitialEvents"));
  EXPECT_GE(waited_, 2s);
}

TEST_F(StreamingListTest, TheEndIsSeenWhereAnnotationsAreNotRead) {
  config::JsonFields fields;
  fields.Only({"metadata", "name"}).Only({"metadata", "resourceVersion"});
  options_.fields = &fields;
  Request();
  Watch().OnStatus(now_, 200);
  Send(StrCat(Event("ADDED", Object("a", "8")), End("10")));
  EXPECT_TRUE(Watch().synced());
}

}  // namespace
}  // namespace fairlead::kube
