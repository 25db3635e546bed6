#include "config/read/tree_json.h"

#include <gtest/gtest.h>

#include "config/read/yaml.h"

namespace fairlead::config {
namespace {

std::string Json(std::string_view yaml) {
  const YamlDocument document = ParseYamlDocument(yaml);
  EXPECT_TRUE(document.problems.empty()) << yaml;
  return ToJson(document.tree.root()).dump();
}

TEST(TreeJson, IsTheDocument) {
  EXPECT_EQ(Json("z: [a, true, null, {}]\na: {b: 1, c: -2.5}\nempty: []\ntext: '1'"),
            R"({"z":["a",true,null,{}],"a":{"b":1,"c":-2.5},"empty":[],"text":"1"})");
  EXPECT_EQ(ToJson(Node()).dump(), "null");
}

TEST(TreeJson, NumbersKeepTheirValue) {
  EXPECT_EQ(Json("[9223372036854775807, -9223372036854775808]"),
            "[9223372036854775807,-9223372036854775808]");
  EXPECT_EQ(Json("[18446744073709551615]"), "[18446744073709551615]");
  EXPECT_EQ(Json("[36893488147419103232]"), "[3.6893488147419103e+19]") << "as near as a double can be";
  EXPECT_EQ(Json("[0x10, 1e3]"), "[16,1000.0]");
  EXPECT_EQ(Json("[.inf, -.inf, .nan]"), R"([".inf","-.inf",".nan"])") << "JSON has no such numbers";
}

}  // namespace
}  // namespace fairlead::config
