#include "injection/json_patch.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/json.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

std::string Patch(std::string_view sent, std::string_view before, std::string_view after) {
  return JsonText(MakeJsonPatch(*ReadJson(sent), *ReadJson(before), *ReadJson(after)));
}

TEST(JsonPatchTest, NamesTheLeastPaths) {
  EXPECT_EQ(
      Patch(R"({"a":{"b":1,"c":2}})", R"({"a":{"b":1,"c":2}})", R"({"a":{"b":3,"d/e~":4}})"),
      R"([{"op":"remove","path":"/a/c"},{"op":"replace","path":"/a/b","value":3},{"op":"add","path":"/a/d~1e~0","value":4}])");
  EXPECT_EQ(Patch(R"({"l":[1,2,3]})", R"({"l":[1,2,3]})", R"({"l":[1,4]})"),
            R"([{"op":"replace","path":"/l/1","value":4},{"op":"remove","path":"/l/2"}])");
  EXPECT_EQ(Patch(R"({"l":[1]})", R"({"l":[1]})", R"({"l":[1,2,3]})"),
            R"([{"op":"add","path":"/l/1","value":2},{"op":"add","path":"/l/2","value":3}])");
}

TEST(JsonPatchTest, WhatNobodyKnowsStays) {
  EXPECT_EQ(Patch(R"({"wharf":1,"a":2})", R"({"a":2})", R"({"a":3})"),
            R"([{"op":"replace","path":"/a","value":3}])");
}

TEST(JsonPatchTest, ParentsThatWereNotSentComeWhole) {
  EXPECT_EQ(Patch("{}", R"({"resources":{}})", R"({"resources":{"limits":{"cpu":"1"}}})"),
            R"([{"op":"add","path":"/resources","value":{"limits":{"cpu":"1"}}}])");
  EXPECT_EQ(Patch("{}", R"({"resources":{}})", R"({"resources":{}})"), "[]");
}

Json AnyValue(std::mt19937& random, int depth) {
  const unsigned kind = random() % (depth == 0 ? 2 : 4);
  if (kind < 2) return static_cast<int>(random() % 3);
  Json value = kind == 2 ? Json::object() : Json::array();
  const unsigned size = random() % 4;
  for (unsigned i = 0; i < size; ++i) {
    if (kind == 2) {
      value[std::string(1, static_cast<char>('a' + random() % 4))] = AnyValue(random, depth - 1);
    } else {
      value.push_back(AnyValue(random, depth - 1));
    }
  }
  return value;
}

TEST(JsonPatchTest, MakesWhatWasAskedFor) {
  std::mt19937 random(28);
  for (int i = 0; i < 2000; ++i) {
    const Json before = AnyValue(random, 3), after = AnyValue(random, 3);
    const Json operations = MakeJsonPatch(before, before, after);
    EXPECT_EQ(before.patch(operations), after);
    EXPECT_EQ(Patched(before, operations), after);
  }
}

}  // namespace
}  // namespace fairlead::injection
