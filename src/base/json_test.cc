#include "base/json.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using nlohmann::json;

TEST(JsonText, ShowsWhatIsNoUtf8) {
  EXPECT_EQ(JsonText(json{{"a", "x\xffy"}}), "{\"a\":\"x\xEF\xBF\xBDy\"}");
  EXPECT_EQ(JsonText(nlohmann::ordered_json{{"b", 1}, {"a", "\xc3"}}), "{\"b\":1,\"a\":\"\xEF\xBF\xBD\"}");
}

TEST(JsonText, IsIndentedWhereAskedFor) { EXPECT_EQ(JsonText(json{{"a", 1}}, 2), "{\n  \"a\": 1\n}"); }

TEST(ParseJson, HasNoValueWhereThereIsNone) {
  EXPECT_EQ(ParseJson(R"({"a": [1, 2]})"), (json{{"a", {1, 2}}}));
  for (const char* text : {"", "{", "{\"a\"}", "\"\xff\"", "1e999999"}) EXPECT_FALSE(ParseJson(text)) << text;
  EXPECT_FALSE(ParseOrderedJson("["));
}

TEST(JsonString, IsEmptyForOtherTypes) {
  const json object = {{"text", "t"}, {"number", 5}};
  EXPECT_EQ(JsonString(object, "text"), "t");
  EXPECT_EQ(JsonString(object, "number"), "");
  EXPECT_EQ(JsonString(object, "absent"), "");
  EXPECT_EQ(JsonString(json(7), "text"), "");
}

}  // namespace
}  // namespace fairlead
