#include "xds/subscribed_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"

namespace fairlead::xds {
namespace {

using testing::ElementsAre;

TEST(NameBagTest, CountsItsBytes) {
  NameBag bag;
  EXPECT_TRUE(bag.Add("bb"));
  EXPECT_TRUE(bag.Add("a"));
  EXPECT_FALSE(bag.Add("a"));
  EXPECT_EQ(bag.bytes(), 3u);
  EXPECT_THAT(bag.Set()->names(), ElementsAre("a", "bb"));
  EXPECT_FALSE(bag.Remove("c"));
  EXPECT_TRUE(bag.Remove("bb"));
  EXPECT_EQ(bag.bytes(), 1u);
  EXPECT_FALSE(bag.Contains("bb"));
}

TEST(SubscribedNamesTest, ChangeByNameAndAtOnce) {
  SubscribedNames names;
  EXPECT_TRUE(names.empty());
  names.Replace(NameSet::Of({"a", "cc", "e"}));
  names.Add("b");
  names.Add("a");
  names.Remove("cc");
  names.Remove("x");
  EXPECT_EQ(names.size(), 3u);
  EXPECT_EQ(names.bytes(), 3u);
  EXPECT_TRUE(names.Contains("a") && names.Contains("b"));
  EXPECT_FALSE(names.Contains("cc") || names.Contains("x"));
  EXPECT_EQ(names.All(), NameSet::Of({"a", "b", "e"}));
  names.Remove("b");
  names.Add("b");
  EXPECT_EQ(names.All(), NameSet::Of({"a", "b", "e"}));
  names.Remove("a");
  names.Add("a");
  EXPECT_EQ(names.size(), 3u);
  names.Replace(NameSet::Empty());
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(names.bytes(), 0u);
  names.Add(NameSet::Of({"a", "b"}));
  EXPECT_EQ(names.base(), NameSet::Of({"a", "b"})) << "without a copy";
  names.Add(NameSet::Of({"b", "c"}));
  EXPECT_EQ(names.All(), NameSet::Of({"a", "b", "c"}));
}

// Counts the names that are copied into new sets.
TEST(SubscribedNamesTest, AddingOneByOneIsLinearWork) {
  constexpr size_t kNames = 20'000;
  SubscribedNames names;
  size_t copied = 0;
  NameSetPtr before = names.base();
  for (size_t i = 0; i < kNames; ++i) {
    names.Add(StrCat("name-", i));
    if (names.base() == before) continue;
    before = names.base();
    copied += before->size();
  }
  EXPECT_EQ(names.All()->size(), kNames);
  EXPECT_LT(copied, 4 * kNames);
}

}  // namespace
}  // namespace fairlead::xds
