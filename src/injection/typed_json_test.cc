#include "injection/typed_json.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/strings.h"
#include "injection/go_text.h"

namespace fairlead::injection {
namespace {

std::string Container(std::string_view json) {
  const auto read = ReadTyped(*ReadJson(json), ContainerType());
  return read.ok() ? JsonText(*read) : std::string(read.status().message());
}

TEST(ReadTypedTest, KeepsWhatGoWrites) {
  EXPECT_EQ(
      Container(
          R"({"name":"a","image":"","wharf":1,"ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"0.5"}}})"),
      R"({"name":"a","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"500m"}}})");
}

TEST(ReadTypedTest, WritesFieldsThatAreNeverLeftOut) {
  EXPECT_EQ(Container(R"({"env":[{}],"livenessProbe":{"httpGet":{}},"stdin":false})"),
            R"({"env":[{"name":""}],"livenessProbe":{"httpGet":{"port":0}},"name":"","resources":{}})");
}

TEST(ReadTypedTest, FieldsDifferInCaseAtMost) {
  EXPECT_EQ(Container(R"({"NAME":"a"})"), R"({"name":"a","resources":{}})");
}

TEST(ReadTypedTest, NamesEmbeddedStructs) {
  EXPECT_EQ(Container(R"({"livenessProbe":{"httpGet":{"port":true}}})"),
            "json: cannot unmarshal bool into Go struct field "
            "HTTPGetAction.livenessProbe.ProbeHandler.httpGet.port of type int32");
}

TEST(ReadTypedTest, TellsTheFirstMistake) {
  EXPECT_EQ(Container(R"({"args":"x","image":1})"),
            "json: cannot unmarshal string into Go struct field Container.args of type []string");
  EXPECT_EQ(Container(R"({"ports":[{"containerPort":1.5}]})"),
            "json: cannot unmarshal number 1.5 into Go struct field ContainerPort.ports.containerPort of "
            "type int32");
  EXPECT_EQ(ReadTyped(Json("text"), PodType()).status().message(),
            "json: cannot unmarshal string into Go value of type v1.Pod");
}

TEST(ReadTypedTest, WhatRefusesItselfEndsTheReading) {
  EXPECT_EQ(Container(R"({"image":1,"resources":{"limits":{"cpu":"lots"}}})").substr(0, 21),
            "quantities must match");
}

TEST(GoJsonTest, SaysWhatIsWrong) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"{}", ""},
      {" [1, -2.5e3, \"\\u00e9\", null, true] ", ""},
      {"", "unexpected end of JSON input"},
      {"{\"a\": ", "unexpected end of JSON input"},
      {"nonsense", "invalid character 'o' in literal null (expecting 'u')"},
      {"{a}", "invalid character 'a' looking for beginning of object key string"},
      {"{\"a\" 1}", "invalid character '1' after object key"},
      {"{\"a\":1 2}", "invalid character '2' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"{} x", "invalid character 'x' after top-level value"},
      {"x", "invalid character 'x' looking for beginning of value"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(FromAbsl(CheckGoJson(text).message()), want) << text;
}

TEST(GoJsonTest, DeepTextsAreRefused) {
  const std::string deep(100'000, '[');
  EXPECT_FALSE(CheckGoJson(deep).ok());
  EXPECT_FALSE(ReadJson(deep).ok());
  EXPECT_FALSE(ReadYaml(deep).ok());
  const std::string object = "{\"metadata\":{\"annotations\":" + deep;
  EXPECT_FALSE(ReadJson(object).ok());
}

TEST(GoValueTextTest, PrintsAsFmt) {
  EXPECT_EQ(GoValueText(*ReadJson(R"({"b":[1,"x",null],"a":1000620000,"c":123456,"d":true,"e":0.00001})")),
            "map[a:1.00062e+09 b:[1 x <nil>] c:123456 d:true e:1e-05]");
}

}  // namespace
}  // namespace fairlead::injection
