#include "base/sharded_map.h"

#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"

namespace fairlead {
namespace {

using Map = ShardedMap<std::string, int, StringViewHash, StringViewEqual, 4>;

// "key0" to "key99", each with its number.
Map Hundred() {
  Map map;
  Map::Editor edit(&map);
  for (int i = 0; i < 100; ++i) edit[StrCat("key", i)] = i;
  return map;
}

TEST(ShardedMapTest, FindsWhatWasSetAndNothingElse) {
  const Map map = Hundred();
  for (int i = 0; i < 100; ++i) {
    const int* value = map.Find(StrCat("key", i));
    ASSERT_NE(value, nullptr) << i;
    EXPECT_EQ(*value, i);
  }
  EXPECT_EQ(map.Find("key100"), nullptr);
}

TEST(ShardedMapTest, ChangesDoNotReachCopies) {
  Map map = Hundred();
  Map copy = map;
  Map::Editor edit(&copy);
  edit["key1"] = -1;
  edit.Erase("key2");
  edit.Erase("never there");
  EXPECT_EQ(*map.Find("key1"), 1);
  EXPECT_EQ(*map.Find("key2"), 2);
  EXPECT_EQ(*copy.Find("key1"), -1);
  EXPECT_EQ(copy.Find("key2"), nullptr);
  EXPECT_EQ(*copy.Find("key3"), 3);
}

TEST(ShardedMapTest, CopiesShareUntouchedShards) {
  Map map = Hundred();
  Map copy = map;
  Map::Editor edit(&copy);
  edit["key1"] = -1;
  int shared = 0;
  for (int i = 0; i < 100; ++i) shared += map.Find(StrCat("key", i)) == copy.Find(StrCat("key", i)) ? 1 : 0;
  EXPECT_GT(shared, 0);
  EXPECT_LT(shared, 100);
}

}  // namespace
}  // namespace fairlead
