#include "gen/extension/struct_json.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

namespace fairlead::gen::extension {
namespace {

std::string Round(const std::string& json) {
  google::protobuf::Struct value;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &value).ok());
  return StructJson(value);
}

TEST(StructJsonTest, SortedAndWithoutBlanks) {
  EXPECT_EQ(Round(R"({"b": [1, "x", {"y": null}], "a": {"d": true, "c": false}, "e": {}, "f": []})"),
            R"({"a":{"c":false,"d":true},"b":[1,"x",{"y":null}],"e":{},"f":[]})");
}

TEST(StructJsonTest, NumbersAsEcmaScript) {
  EXPECT_EQ(Round(R"({"n": [1.5, 1700000000000, 100000000000000000000, 1e21, 0.000001, 1e-7, -0.5, 0]})"),
            R"({"n":[1.5,1700000000000,100000000000000000000,1e+21,0.000001,1e-7,-0.5,0]})");
}

TEST(StructJsonTest, OnlyWhatMustIsEscaped) {
  EXPECT_EQ(Round(R"({"s": "<a&b> \"q\" \\ \n \u0001 \u00e9"})"),
            "{\"s\":\"<a&b> \\\"q\\\" \\\\ \\n \\u0001 \xc3\xa9\"}");
}

}  // namespace
}  // namespace fairlead::gen::extension
