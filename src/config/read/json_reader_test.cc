#include "config/read/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/read/tree_json.h"

namespace fairlead::config {
namespace {

std::string Json(std::string_view text, const JsonFields* fields = nullptr) {
  JsonReader reader;
  const absl::StatusOr<Tree> tree = reader.Read(text, fields);
  return tree.ok() ? ToJson(tree->root()).dump() : "no JSON";
}

TEST(JsonReader, TheTreeIsTheText) {
  constexpr char kText[] =
      R"({"z":["a",true,false,null,{}],"a":{"b":1,"c":-2.5},"empty":[],"text":"1\né\u00e9"})";
  EXPECT_EQ(Json(kText), R"({"z":["a",true,false,null,{}],"a":{"b":1,"c":-2.5},"empty":[],"text":"1\néé"})")
      << "keys in their order, escapes resolved";
}

TEST(JsonReader, NumbersAreIntegersWhere64BitsHoldThem) {
  JsonReader reader;
  const auto tree = reader.Read(R"([0, -0, -5, 18446744073709551615, 18446744073709551616, 1.0, 1e3])");
  ASSERT_TRUE(tree.ok()) << tree.status();
  std::vector<NodeType> types;
  std::vector<std::string> texts;
  for (Node node : tree->root().elements()) {
    types.push_back(node.type());
    texts.emplace_back(node.text());
  }
  using enum NodeType;
  EXPECT_THAT(types, ::testing::ElementsAre(kInt, kInt, kInt, kInt, kFloat, kFloat, kFloat));
  EXPECT_THAT(texts, ::testing::ElementsAre("0", "0", "-5", "18446744073709551615", "18446744073709551616",
                                            "1.0", "1e3"));
}

TEST(JsonReader, ReadsOneTextAfterTheOther) {
  JsonReader reader;
  const auto first = reader.Read(R"({"a": "first"})");
  EXPECT_FALSE(reader.Read(R"({"a": )").ok());
  const auto second = reader.Read(R"({"a": "second"})");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->Find("a").String(), "first") << "a tree has its own memory";
  EXPECT_EQ(second->Find("a").String(), "second");
}

TEST(JsonReader, WhatIsNoJsonIsRefused) {
  for (const char* text : {"", " ", "{", "{\"a\"}", "{\"a\":}", "[1,]", "[1 2]", "{\"a\":1,}", "nul", "tru",
                           "{}{}", "[1e999]", "\"\\ud800\"", "\"\xff\"", "[01]", "[-]", "{\"a\":1]"}) {
    EXPECT_EQ(Json(text), "no JSON") << text;
  }
}

TEST(JsonReader, NestingIsBounded) {
  const std::string deep(199, '['), deeper(5000, '[');
  EXPECT_NE(Json(deep + std::string(199, ']')), "no JSON");
  EXPECT_EQ(Json(deeper + std::string(5000, ']')), "no JSON");
}

TEST(JsonReader, NoMessageQuotesTheText) {
  JsonReader reader;
  EXPECT_EQ(reader.Read(R"({"data":{"key":"c2VjcmV0")").status().message().find("c2Vj"),
            absl::string_view::npos);
}

TEST(JsonReader, ReadsTheFieldsThatAreWanted) {
  JsonFields fields;
  fields.Skip({"metadata", "managedFields"}).Only({"spec", "containers", "ports"});
  fields.rest = JsonFields::Rest::kRead;
  EXPECT_EQ(
      Json(R"({"metadata":{"name":"a","managedFields":[{"x":[1,{"y":2}]}]},
                     "spec":{"volumes":[{"name":"v"}],"containers":[{"name":"c","ports":[{"p":1}]},{"env":[]}]},
                     "status":{"phase":"Running"}})",
           &fields),
      R"({"metadata":{"name":"a"},"spec":{"containers":[{"ports":[{"p":1}]},{}]},"status":{"phase":"Running"}})");
}

}  // namespace
}  // namespace fairlead::config
