#include "config/read/lua.h"

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/read/manifests.h"

namespace fairlead::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Lua, WhatEnvoyCompilesIsRight) {
  for (const char* script :
       {"", "-- nothing", "function envoy_on_request(h) h:logInfo('x') end", "goto a ::a::", "x=0x1p4 y=1LL",
        "local s = 'a\\z b'", "x=1;;y=2", "; x=1", "while true do end", "error('not run')"})
    EXPECT_EQ(LuaProblem(script), "") << script;
}

TEST(Lua, AMistakeHasItsLine) {
  EXPECT_EQ(LuaProblem("a"), "line 1: '=' expected near '<eof>'");
  EXPECT_EQ(LuaProblem("x = 1\nfunction (\n"), "line 2: '<name>' expected near '('");
  EXPECT_EQ(LuaProblem("a"), "line 1: '=' expected near '<eof>'") << "the second time, too";
}

TEST(Lua, BytecodeIsNoScript) { EXPECT_NE(LuaProblem("\x1bLJ\x02"), ""); }

TEST(Lua, MemoryAndDepthAreBounded) {
  EXPECT_THAT(LuaProblem(std::string(1 << 20, '(')), HasSubstr("too many syntax levels"));
  EXPECT_THAT(LuaProblem(StrCat("x='", std::string(40 << 20, 'a'), "'")), HasSubstr("more than 32 MiB"));
}

std::vector<std::string> Mistakes(const std::string& json) {
  google::protobuf::Struct value;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &value).ok()) << json;
  std::vector<std::string> paths;
  for (const LuaMistake& mistake : FindLuaMistakes(value)) {
    std::string path;
    for (const PathStep& step : mistake.path)
      StrAppend(&path, "/", step.key.empty() ? StrCat(step.index) : step.key);
    paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(Lua, ScriptsAreFoundWhereverAFilterHasThem) {
  const std::string type = R"("@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua")";
  EXPECT_THAT(Mistakes(StrCat(R"({"typed_config": {)", type, R"(, "inline_code": "a"}})")),
              ElementsAre("/typed_config/inline_code"));
  EXPECT_THAT(Mistakes(StrCat(R"({"typedConfig": {)", type, R"(,
      "defaultSourceCode": {"inlineString": "a"}, "sourceCodes": {"b.lua": {"inline_bytes": "YQ=="},
      "c": {"inline_string": "-- good"}, "d": {"filename": "/a"}}}})")),
              ElementsAre("/typedConfig/defaultSourceCode/inlineString",
                          "/typedConfig/sourceCodes/b.lua/inline_bytes"));
  EXPECT_THAT(Mistakes(R"({"filters": [{}, {"typed_config": {
      "@type": "type.googleapis.com/udpa.type.v1.TypedStruct",
      "type_url": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
      "value": {"inlineCode": "a"}}}]})"),
              ElementsAre("/filters/1/typed_config/value/inlineCode"));
  EXPECT_THAT(Mistakes(R"({"typed_per_filter_config": {"lua": {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.LuaPerRoute",
      "source_code": {"inline_string": "a"}}}})"),
              ElementsAre("/typed_per_filter_config/lua/source_code/inline_string"));
  EXPECT_THAT(Mistakes(R"({"typed_config": {"@type": "type.googleapis.com/other", "inline_code": "a"}})"),
              IsEmpty());
}

TEST(Lua, AnObjectWithAMistakeIsAdmittedWithAnError) {
  const ParseResult result = ParseManifests(R"(apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: lua, namespace: default}
spec:
  configPatches:
  - applyTo: HTTP_FILTER
    match: {context: SIDECAR_INBOUND}
    patch:
      operation: INSERT_FIRST
      value:
        name: envoy.filters.http.lua
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
          inline_code: |
            function envoy_on_request(handle)
              handle:logInfo("x"
            end
---
apiVersion: extensions.istio.io/v1alpha1
kind: TrafficExtension
metadata: {name: script, namespace: default}
spec:
  lua: {inlineCode: function (}
)",
                                            "a.yaml");
  EXPECT_EQ(result.objects.size(), 2u);
  EXPECT_THAT(result.broken, IsEmpty());
  std::vector<std::string> texts;
  for (const Diagnostic& one : result.diagnostics) {
    if (one.code == kLuaCode) texts.push_back(ToText(one));
  }
  EXPECT_THAT(texts,
              ElementsAre("a.yaml:14: error: EnvoyFilter default/lua: "
                          "spec.configPatches[0].patch.value.typed_config.inline_code: the Lua script does "
                          "not compile, and is left out: line 3: ')' expected (to close '(' at line 2) near "
                          "'end' (lua)",
                          "a.yaml:23: error: TrafficExtension default/script: spec.lua.inlineCode: the Lua "
                          "script does not compile, and is left out: line 1: '<name>' expected near '(' "
                          "(lua)"));
}

}  // namespace
}  // namespace fairlead::config
