#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kube/list_watch_fixture.h"

namespace fairlead::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ListWatchTest, ListsWhatTheServerHasInMemoryThenWatchesFromThere) {
  const auto first = Watch().TakeRequest(now_);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->path, "/api/v1/pods?resourceVersion=0&limit=500");
  EXPECT_EQ(first->what, ListWatch::Target::What::kWholeList);
  EXPECT_FALSE(Watch().TakeRequest(now_)) << "one at a time";
  Watch().OnStatus(now_, 200);
  for (const char byte : List("10", {Object("a", "1"), Object("b", "2")})) Send(std::string(1, byte));
  EXPECT_THAT(Names(), ElementsAre("a", "b")) << "objects count as they come";
  EXPECT_FALSE(Watch().synced());
  Watch().OnEnd(now_, {});
  EXPECT_TRUE(Watch().synced());
  EXPECT_EQ(copy_.lists, 1);
  const auto watch = Watch().TakeRequest(now_);
  ASSERT_TRUE(watch);
  EXPECT_EQ(watch->what, ListWatch::Target::What::kWatch);
  EXPECT_THAT(watch->path,
              ::testing::StartsWith(
                  "/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds="));
}

TEST_F(ListWatchTest, AServerWithoutAMemoryIsListedInChunks) {
  Request();
  Answer(200, List("10", {Object("a", "1")}, "x/y="));
  EXPECT_FALSE(Watch().synced());
  const auto second = Watch().TakeRequest(now_);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->path, "/api/v1/pods?limit=500&continue=x%2Fy%3D") << "a version is not allowed there";
  EXPECT_EQ(second->what, ListWatch::Target::What::kChunk);
  Answer(200, List("10", {Object("b", "2")}));
  EXPECT_TRUE(Watch().synced());
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
  EXPECT_EQ(copy_.lists, 1);
}

TEST_F(ListWatchTest, TheFirstListIsOfMemoryUntilOneCame) {
  Request();
  Answer(503, "");
  EXPECT_EQ(Request(), "/api/v1/pods?resourceVersion=0&limit=500");
  Answer(400, "{}");
  EXPECT_EQ(Request(), "/api/v1/pods?limit=500") << "a server that knows no such lists";
}

TEST_F(ListWatchTest, AListThatBreaksOffTakesNothingAway) {
  Begin();
  Answer(410, "{}");
  Request();
  Watch().OnStatus(now_, 200);
  const std::string list = List("20", {Object("a", "15"), Object("c", "16")});
  Send(list.substr(0, list.find(Object("c", "16")) + 3));
  EXPECT_EQ(copy_.objects["a"], "15");
  Watch().OnEnd(now_, {AnswerEnd::Reason::kBroken, "cut"});
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
  Request();
  Answer(200, List("21", {Object("b", "17")}));
  EXPECT_THAT(Names(), ElementsAre("b"));
}

TEST_F(ListWatchTest, AnObjectOfAListThatIsTooLargeEndsIt) {
  options_.most_object_bytes = 60;
  Request();
  Watch().OnStatus(now_, 200);
  Send(List("10", {Object("a", "1"), Object(std::string(60, 'b'), "1")}));
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_EQ(Watch().trouble_text(), "an object of the list is too large");
}

TEST_F(ListWatchTest, AListWithMoreObjectsThanThereMayBeIsGivenUp) {
  options_.most_chunks = 2;
  options_.chunk = 2;
  Request();
  Answer(200, List("10", {Object("a", "1"), Object("b", "1"), Object("c", "1"), Object("d", "1"),
                          Object("e", "1")}));
  EXPECT_FALSE(Watch().synced());
  EXPECT_TRUE(Watch().TakeCancel());
  EXPECT_THAT(Watch().trouble_text(), HasSubstr("no end"));
}

}  // namespace
}  // namespace fairlead::kube
