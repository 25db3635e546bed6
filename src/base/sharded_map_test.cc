#include "base/sharded_map.h"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

#include "base/strings.h"

namespace fairlead {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Map = ShardedMap<std::string, int, StringViewHash, StringViewEqual, 4>;

// "key0" to "key99", each with its number.
Map Hundred() {
  Map map;
  for (int i = 0; i < 100; ++i) map[StrCat("key", i)] = i;
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
  copy["key1"] = -1;
  copy.Erase("key2");
  copy.Erase("never there");
  EXPECT_EQ(*map.Find("key1"), 1);
  EXPECT_EQ(*map.Find("key2"), 2);
  EXPECT_EQ(*copy.Find("key1"), -1);
  EXPECT_EQ(copy.Find("key2"), nullptr);
  EXPECT_EQ(*copy.Find("key3"), 3);
}

TEST(ShardedMapTest, CopiesShareUntouchedShards) {
  Map map = Hundred();
  Map copy = map;
  copy["key1"] = -1;
  int shared = 0;
  for (int i = 0; i < 100; ++i) shared += map.Find(StrCat("key", i)) == copy.Find(StrCat("key", i)) ? 1 : 0;
  EXPECT_GT(shared, 0);
  EXPECT_LT(shared, 100);
}

TEST(ShardedMapTest, ACopyIsChangedInPlaceOnceItIsItsOwn) {
  Map map = Hundred();
  const Map copy = map;
  map["key1"] = -1;
  const int* own = map.Find("key1");
  map["key1"] = -2;
  EXPECT_EQ(map.Find("key1"), own);
  EXPECT_EQ(*copy.Find("key1"), 1);
}

// "key: was -> is" of every difference, in order.
std::set<std::string> Differences(const Map& before, const Map& after) {
  std::set<std::string> all;
  const auto text = [](const int* value) { return value == nullptr ? "none" : StrCat(*value); };
  after.ForEachDifference(before, [&](const std::string& key, const int* was, const int* is) {
    all.insert(StrCat(key, ": ", text(was), " -> ", text(is)));
  });
  return all;
}

TEST(ShardedMapTest, DifferencesAreWhatWasAddedChangedAndErased) {
  const Map before = Hundred();
  EXPECT_THAT(Differences(before, before), IsEmpty());
  EXPECT_THAT(Differences(before, Hundred()), IsEmpty()) << "equal, though nothing is shared";
  Map after = before;
  after["key1"] = -1;
  after["key2"] = 2;
  after["new"] = 7;
  after.Erase("key3");
  EXPECT_THAT(Differences(before, after), ElementsAre("key1: 1 -> -1", "key3: 3 -> none", "new: none -> 7"));
  EXPECT_THAT(Differences(Map(), before), SizeIs(100));
  EXPECT_THAT(Differences(before, Map()), SizeIs(100));
}

TEST(ShardedMapTest, AMapWhoseLastEntryIsErasedIsEmpty) {
  Map map;
  EXPECT_TRUE(map.empty());
  map["a"] = 1;
  map["b"] = 2;
  EXPECT_EQ(map.size(), 2u);
  map.Erase("a");
  EXPECT_FALSE(map.empty());
  map.Erase("b");
  EXPECT_TRUE(map.empty());
}

TEST(ShardedMapTest, GoesOverAllEntriesOnce) {
  std::map<std::string, int> all;
  const Map map = Hundred();
  for (const auto& [key, value] : map) EXPECT_TRUE(all.emplace(key, value).second);
  EXPECT_THAT(all, SizeIs(100));
  EXPECT_EQ(all.at("key42"), 42);
  const Map none;
  EXPECT_EQ(none.begin(), none.end());
}

TEST(ShardedSetTest, HoldsEachKeyOnceAndTellsDifferences) {
  ShardedSet<int> before;
  for (int i : {1, 2, 3, 3}) before.Insert(i);
  EXPECT_EQ(before.size(), 3u);
  ShardedSet<int> after = before;
  after.Erase(1);
  after.Insert(2);
  after.Insert(4);
  std::set<std::string> differences;
  after.ForEachDifference(before,
                          [&](int key, bool is_in) { differences.insert(StrCat(is_in ? "+" : "-", key)); });
  EXPECT_THAT(differences, ElementsAre("+4", "-1"));
  EXPECT_EQ(std::set<int>(after.begin(), after.end()), (std::set<int>{2, 3, 4}));
  EXPECT_TRUE(before.contains(1));
}

}  // namespace
}  // namespace fairlead
