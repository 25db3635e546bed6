#include "server/http_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(ParseTarget, PathsAndQueriesAreDecoded) {
  const HttpTarget target = ParseTarget("/debug/a%20b+c?proxyID=x%2Ey+z&pretty&a=1&a=2&&=3#part");
  EXPECT_EQ(target.path, "/debug/a b+c");
  EXPECT_THAT(target.query, ElementsAre(Pair("", "3"), Pair("a", "1"), Pair("a", "2"), Pair("pretty", ""),
                                        Pair("proxyID", "x.y z")));
}

TEST(ParseTarget, ProxiesNameTheHost) {
  EXPECT_EQ(ParseTarget("http://istiod:8080/ready?x").path, "/ready");
  EXPECT_EQ(ParseTarget("http://istiod:8080").path, "/");
  EXPECT_EQ(ParseTarget("/a?next=http://b/c").path, "/a");
}

TEST(ParseTarget, RepeatedSlashesAreOne) {
  EXPECT_EQ(ParseTarget("//version").path, "/version");
  EXPECT_EQ(ParseTarget("/debug///adsz?a=//b").path, "/debug/adsz");
  EXPECT_THAT(ParseTarget("/debug///adsz?a=//b").query, ElementsAre(Pair("a", "//b")));
}

TEST(ParseTarget, WhatIsWrongStays) {
  EXPECT_EQ(ParseTarget("/%zz%4").path, "/%zz%4");
  EXPECT_EQ(ParseTarget("").path, "");
  EXPECT_EQ(ParseTarget("*").path, "*");
  EXPECT_THAT(ParseTarget("/?").query, IsEmpty());
}

}  // namespace
}  // namespace fairlead::server
