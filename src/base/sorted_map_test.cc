#include "base/sorted_map.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace fairlead {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Map = SortedMap<int, int, std::less<int>, 8>;
using Plain = std::map<int, int>;

Plain Content(const Map& map) { return {map.begin(), map.end()}; }

// By brute force.
Plain Differing(const Plain& before, const Plain& after) {
  Plain keys;
  for (const auto& [key, value] : before) {
    const auto now = after.find(key);
    if (now == after.end() || now->second != value) keys[key] = 0;
  }
  for (const auto& [key, value] : after) {
    if (!before.contains(key)) keys[key] = 0;
  }
  return keys;
}

TEST(SortedMapTest, IsWhatAnOrderedMapIs) {
  std::mt19937 random(1);
  Map map, earlier;
  Plain plain, earlier_plain;
  for (int round = 0; round < 20000; ++round) {
    const int key = static_cast<int>(random() % 300);
    // Grows, then shrinks, and so on.
    if (random() % 10 < (round / 2000 % 2 == 0 ? 7 : 3)) {
      map.Set(key, round);
      plain[key] = round;
    } else {
      map.Erase(key);
      plain.erase(key);
    }
    ASSERT_EQ(map.size(), plain.size());
    const int asked = static_cast<int>(random() % 300);
    const auto expected = plain.lower_bound(asked);
    const auto found = map.LowerBound(asked);
    ASSERT_EQ(found == map.end(), expected == plain.end());
    ASSERT_TRUE(expected == plain.end() || found->first == expected->first);
    ASSERT_EQ(map.contains(asked), plain.contains(asked));
    if (round % 50 != 0) continue;
    ASSERT_EQ(Content(map), plain);
    ASSERT_EQ(Content(earlier), earlier_plain) << "changes reach no copy";
    Plain differing;
    map.ForEachDifference(earlier, [&](int k, const int* was, const int* is) {
      ASSERT_EQ(was == nullptr, !earlier_plain.contains(k));
      ASSERT_EQ(is == nullptr, !plain.contains(k));
      ASSERT_TRUE(differing.emplace(k, 0).second);
    });
    ASSERT_EQ(differing, Differing(earlier_plain, plain));
    earlier = map;
    earlier_plain = plain;
  }
}

TEST(SortedMapTest, WhatIsSharedIsNotCompared) {
  struct Counted {
    int value;
    static int& Comparisons() {
      static int count = 0;
      return count;
    }
    bool operator==(const Counted& other) const {
      ++Comparisons();
      return value == other.value;
    }
  };
  SortedMap<int, Counted> before;
  for (int i = 0; i < 10000; ++i) before.Set(i, {i});
  auto after = before;
  after.Set(5000, {-1});
  std::vector<int> keys;
  after.ForEachDifference(before, [&keys](int key, const auto*, const auto*) { keys.push_back(key); });
  EXPECT_THAT(keys, ElementsAre(5000));
  EXPECT_LE(Counted::Comparisons(), 64) << "one chunk";
}

TEST(SortedMapTest, AnEmptyOneHasNothing) {
  Map map;
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.begin(), map.end());
  EXPECT_EQ(map.LowerBound(1), map.end());
  EXPECT_EQ(map.Find(1), nullptr);
  map.Erase(1);
  map.Set(1, 1);
  map.Erase(1);
  EXPECT_THAT(Content(map), IsEmpty());
}

}  // namespace
}  // namespace fairlead
