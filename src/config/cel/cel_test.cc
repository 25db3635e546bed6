#include "config/cel/cel.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/read/yaml.h"

// What expressions come to, with `self` read from YAML.
namespace fairlead::config {
namespace {

std::string ToText(const CelValue& value) {
  switch (value.type) {
    case CelValue::Type::kError:
      return "error";
    case CelValue::Type::kNull:
      return "null";
    case CelValue::Type::kBool:
      return value.truth ? "true" : "false";
    case CelValue::Type::kInt:
      return StrCat(value.integer);
    case CelValue::Type::kDouble:
      return StrCat("double ", static_cast<int64_t>(value.number * 1000));
    case CelValue::Type::kString:
      return StrCat("\"", value.text, "\"");
    case CelValue::Type::kDuration:
      return StrCat("duration ", value.integer);
    case CelValue::Type::kUrl:
      return "url";
    case CelValue::Type::kList:
    case CelValue::Type::kMap:
      return StrCat(value.type == CelValue::Type::kList ? "list " : "map ", value.size());
  }
  return "";
}

std::string Evaluate(std::string_view expression, std::string_view self = "{}") {
  const CelParsed parsed = ParseCel(expression);
  if (parsed.expression == nullptr) return "unreadable";
  const YamlDocument document = ParseYamlDocument(self);
  CelBudget budget;
  return ToText(EvaluateCel(*parsed.expression, document.tree.root(), &budget));
}

using Table = std::vector<std::pair<std::string_view, std::string_view>>;
void ExpectAll(const Table& table, std::string_view self = "{}") {
  for (const auto& [expression, value] : table) EXPECT_EQ(Evaluate(expression, self), value) << expression;
}

TEST(CelTest, Literals) {
  ExpectAll({{"1", "1"},
             {"-1", "-1"},
             {"0x1F", "31"},
             {"-0x10", "-16"},
             {"7u", "7"},
             {"1.5", "double 1500"},
             {".5", "double 500"},
             {"2e-3", "double 2"},
             {"-1.5E1", "double -15000"},
             {"-9223372036854775808", "-9223372036854775808"},
             {"9223372036854775808", "unreadable"},
             {"true", "true"},
             {"null", "null"},
             {"'a'", "\"a\""},
             {"\"a'b\"", "\"a'b\""},
             {"'\\n\\x41\\u00e9\\101'",
              "\"\nA\xC3\xA9"
              "A\""},
             {"r'\\n'", "\"\\n\""},
             {"b'\\xff'", "\"\xFF\""},
             {"'''a'\nb'''", "\"a'\nb\""},
             {"'a\nb'", "unreadable"},
             {"'\\q'", "unreadable"},
             {"'a", "unreadable"},
             {"[1, 2,]", "list 2"},
             {"{'a': 1, 'b': 2,}", "map 2"},
             {"[]", "list 0"},
             {"1 // one", "1"}});
}

TEST(CelTest, Operators) {
  ExpectAll({{"1 + 2 * 3", "7"},
             {"(1 + 2) * 3", "9"},
             {"7 / 2", "3"},
             {"-7 % 3", "-1"},
             {"1 - 2 - 3", "-4"},
             {"1 / 0", "error"},
             {"9223372036854775807 + 1", "error"},
             {"1.5 + 1.5", "double 3000"},
             {"1 + 1.5", "error"},
             {"'a' + 'b'", "\"ab\""},
             {"'a' + 1", "error"},
             {"!true", "false"},
             {"!!true", "true"},
             {"!1", "error"},
             {"-(1)", "-1"},
             {"--1", "1"},
             {"1 == 1.0", "true"},
             {"1 != 2", "true"},
             {"'a' == 1", "false"},
             {"[1, 2] == [1, 2]", "true"},
             {"1 < 2", "true"},
             {"2 <= 1", "false"},
             {"1 < 1.5", "true"},
             {"'a' < 'b'", "true"},
             {"'a' < 1", "error"},
             {"1 in [1, 2]", "true"},
             {"'a' in {'a': 1}", "true"},
             {"1 in 2", "error"},
             {"true ? 1 : 2", "1"},
             {"1 ? 1 : 2", "error"},
             {"false ? 1 : true ? 2 : 3", "2"}});
}

TEST(CelTest, EitherSideOfAndAndOrMayDecide) {
  ExpectAll({{"true && false", "false"},
             {"self.none && false", "false"},
             {"false && self.none", "false"},
             {"self.none && true", "error"},
             {"self.none || true", "true"},
             {"self.none || false", "error"},
             {"1 || true", "true"},
             {"1 && true", "error"},
             {"true || false && false", "true"}});
}

TEST(CelTest, FieldsOfTheObject) {
  constexpr std::string_view kSelf = "{a: {b: [x, z]}, i: 5, f: 1.5, t: on, nothing: null, s: text}";
  ExpectAll({{"self.a.b[1]", "\"z\""},
             {"self['a'].b.size()", "2"},
             {"self.a.b[2]", "error"},
             {"self.a.b['x']", "error"},
             {"self.none", "error"},
             {"self.nothing", "error"},
             {"self.i", "5"},
             {"self.f", "double 1500"},
             {"self.t", "true"},
             {"has(self.a)", "true"},
             {"has(self.a.c)", "false"},
             {"has(self.nothing)", "false"},
             {"has(self.none.a)", "error"},
             {"self.s.a", "error"},
             {"self.size()", "5"},
             {"other", "error"},
             {"(has(self.x) ? self.x : []).size() == 0", "true"}},
            kSelf);
}

TEST(CelTest, Macros) {
  constexpr std::string_view kSelf =
      "{list: [1, 2, 3], map: {a: 1, b: 2}, ports: [{number: 1}, {number: 2}, {number: 1}]}";
  ExpectAll({{"self.list.all(x, x > 0)", "true"},
             {"self.list.all(x, x > 1)", "false"},
             {"self.list.exists(x, x == 3)", "true"},
             {"self.list.exists(x, x == 4)", "false"},
             {"self.list.exists_one(x, x > 2)", "true"},
             {"self.list.exists_one(x, x > 1)", "false"},
             {"self.list.filter(x, x > 1)", "list 2"},
             {"self.list.map(x, x * 2)[2]", "6"},
             {"self.map.all(key, self.map[key] > 0)", "true"},
             {"self.map.exists(key, key == 'b')", "true"},
             {"self.ports.all(l1, self.ports.exists_one(l2, l1.number == l2.number))", "false"},
             {"self.list.all(x, x)", "error"},
             {"self.list.all(x, x < 1 / (x - 2))", "false"},
             {"self.list.exists(x, x == 1 || 1 / (x - 2) == 7)", "true"},
             {"self.list.all(x, y > 0)", "error"},
             {"1.all(x, true)", "error"},
             {"self.list.all(1, true)", "unreadable"},
             {"self.list.all(x.y, true)", "unreadable"},
             {"[].all(x, false)", "true"}},
            kSelf);
}

TEST(CelTest, Functions) {
  ExpectAll({{"'abc'.contains('b')", "true"},
             {"'abc'.startsWith('b')", "false"},
             {"'abc'.endsWith('c')", "true"},
             {"'abc'.matches('^a.c$')", "true"},
             {"matches('abc', 'b')", "true"},
             {"'abc'.matches('(')", "error"},
             {"'abc'.substring(1)", "\"bc\""},
             {"'abc'.substring(1, 2)", "\"b\""},
             {"'abc'.substring(3)", "\"\""},
             {"'abc'.substring(2, 4)", "error"},
             {"'unix:///a'.substring(7, 8)", "\"/\""},
             {"'äöü'.size()", "3"},
             {"size('äöü')", "3"},
             {"'äöü'.substring(1, 2)", "\"ö\""},
             {"size([1, 2])", "2"},
             {"{'a': 1}.size()", "1"},
             {"'aB'.lowerAscii()", "\"ab\""},
             {"'aB'.upperAscii()", "\"AB\""},
             {"int('12')", "12"},
             {"int('x')", "error"},
             {"int(1.9)", "1"},
             {"string(12)", "\"12\""},
             {"duration('1.5s')", "duration 1500000000"},
             {"duration('1h1m')", "duration 3660000000000"},
             {"duration('1')", "error"},
             {"duration('10s') >= duration('1ms')", "true"},
             {"duration('-1s') >= duration('1ms')", "false"},
             {"isURL('https://a/b')", "true"},
             {"isURL('a b')", "false"},
             {"isIP('1.2.3.4') && isIP('::1')", "true"},
             {"isIP('a.b')", "false"},
             {"'a/b/c'.split('/')[2]", "\"c\""},
             {"'a'.split('/').size()", "1"},
             {"'a'.split('')", "error"},
             {"url('https://a b/').getHost()", "error"},
             {"url('HTTPS://a:80/b').getScheme()", "\"https\""},
             {"url('https://a:80/b').getHost()", "\"a:80\""},
             {"url('https://a:80/b').getScheme() in ['http', 'https']", "true"},
             {"'a'.none()", "error"},
             {"none('a')", "error"},
             {"1.contains('a')", "error"},
             {"'a'.contains(1)", "error"}});
}

TEST(CelTest, WhatIsNoExpression) {
  for (std::string_view text : {"",
                                " ",
                                "1 +",
                                "(1",
                                "1)",
                                "[1",
                                "{1}",
                                "{1: 2",
                                "a b",
                                "a.",
                                ".",
                                "a..b",
                                "a.1",
                                "has(a)",
                                "has(a['b'])",
                                "has(a.b",
                                "!",
                                "1 ? 2",
                                "in",
                                "a.in",
                                "if",
                                "a[",
                                "a[1",
                                "self.all(x, )x",
                                "&& a",
                                "a & b",
                                "a = b",
                                "'a' 'b'",
                                "@",
                                "!-a",
                                "f(1,)",
                                "[1,,]",
                                "[,1]",
                                "a.`b",
                                "a.``",
                                "a.`b:c`",
                                "(a){}",
                                "--9223372036854775808"}) {
    EXPECT_EQ(ParseCel(text).expression, nullptr) << text;
    EXPECT_NE(ParseCel(text).error, "") << text;
  }
}

TEST(CelTest, WhatIsAnExpressionThoughItMeansNothingHere) {
  for (std::string_view text :
       {"response.code >= 400", "!has(request.headers.x) && connection.mtls", "a.B{c: 1, d: 'e'}", "A{}",
        ".a.b", "a.if", "f(1, 2)", "request.headers['a-b'] in ['c']",
        "timestamp('2026-01-01T00:00:00Z') < request.time", "l.map(x, x > 1, x + 1)", "l.all(x)", "has(a, b)",
        "[,]", "{,}", "A{,}", "a.`b-c/d e`", "18446744073709551615u", "b\"x\" == r'\\d'",
        "!-1 || --a == 1"}) {
    EXPECT_NE(ParseCel(text).expression, nullptr) << text << ": " << ParseCel(text).error;
  }
}

TEST(CelTest, LargeExpressionsAreRefused) {
  const auto repeat = [](std::string_view text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  EXPECT_NE(ParseCel("a" + repeat(" + a", 100)).expression, nullptr);
  for (const std::string& text :
       {"a" + repeat(" + a", 100000), repeat("(", 100000), repeat("!", 100000) + "a",
        "a" + repeat(".a", 100000), repeat("a ? b : ", 100000) + "c"}) {
    EXPECT_EQ(ParseCel(text).expression, nullptr);
  }
}

TEST(CelTest, ARuleThatTakesTooManyStepsIsAnError) {
  const CelParsed parsed = ParseCel("self.all(a, self.exists_one(b, a == b))");
  std::string list = "[";
  const auto evaluate = [&](size_t items) {
    for (size_t i = list.size() == 1 ? 0 : items / 2; i < items; ++i) StrAppend(&list, i, ",");
    const YamlDocument document = ParseYamlDocument(list + "]");
    CelBudget budget;
    return ToText(EvaluateCel(*parsed.expression, document.tree.root(), &budget));
  };
  EXPECT_EQ(evaluate(250), "true");
  EXPECT_EQ(evaluate(500), "true");
  EXPECT_EQ(evaluate(5000), "error");
}

}  // namespace
}  // namespace fairlead::config
