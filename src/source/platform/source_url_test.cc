#include "source/platform/source_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::source {
namespace {

using ::testing::ElementsAre;

TEST(SourceUrlTest, SeveralInOneTextAreTold) {
  EXPECT_THAT(SplitSourceUrls("consul://a?selector=x=1,y,etcd://b,c:1/p"),
              ElementsAre("consul://a?selector=x=1,y", "etcd://b,c:1/p"));
  EXPECT_THAT(SplitSourceUrls("consul://a"), ElementsAre("consul://a"));
}

TEST(SourceUrlTest, AddressesPathAndOptions) {
  const auto url = ParseSourceUrl("etcd://a,b:1,[2001:db8::1]:2/x/y/?k=a%20b&flag", 9);
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_THAT(url->addresses,
              ElementsAre(std::pair("a", 9), std::pair("b", 1), std::pair("[2001:db8::1]", 2)));
  EXPECT_EQ(url->path, "/x/y");
  EXPECT_EQ(url->options.find("k")->second, "a b");
  EXPECT_EQ(url->options.find("flag")->second, "true");
  EXPECT_EQ(url->Name(), "etcd://a:9,b:1,[2001:db8::1]:2/x/y");
}

TEST(SourceUrlTest, WhatIsNoUrlIsRefused) {
  for (const char* text : {"", "a", "://a", "x://", "x://a b", "x://a:", "x://a:x", "x://a:70000", "x://::1",
                           "x://a?k=%zz", "x://a?k=%0a", "x://a#f", "x://[::1"})
    EXPECT_FALSE(ParseSourceUrl(text, 1).ok()) << text;
  EXPECT_FALSE(ParseSourceUrl(std::string(9000, 'x'), 1).ok());
}

TEST(LabelQueryTest, PartsMustAllHold) {
  const LabelMap labels = {{"app", "web"}, {"tier", "front"}};
  const auto matches = [&labels](std::string_view text) { return LabelQuery::Parse(text)->Matches(labels); };
  EXPECT_TRUE(matches(""));
  EXPECT_TRUE(matches("app=web, tier!=db,app,!old"));
  EXPECT_TRUE(matches("app==web,none!=x"));
  EXPECT_FALSE(matches("app=web,old"));
  EXPECT_FALSE(matches("!app"));
  EXPECT_FALSE(matches("app!=web"));
  EXPECT_FALSE(LabelQuery::Parse("a=1,,b").ok());
  EXPECT_FALSE(LabelQuery::Parse("a in (b)").ok());
}

}  // namespace
}  // namespace fairlead::source
