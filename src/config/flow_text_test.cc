#include "config/flow_text.h"

#include <gtest/gtest.h>

#include <string>

#include "config/read/yaml.h"

namespace fairlead::config {
namespace {

std::string Flow(std::string_view text, std::string_view kind = {}) {
  return FlowText(ParseYamlDocument(text).tree.root(), kind);
}

TEST(FlowTextTest, KeepsTypesValuesAndLines) {
  EXPECT_EQ(Flow("a: 1\nb: \"1\"\nc:\n- yes\n- ~\n- 1.5\n"),
            "{\"a\": 1, \n\"b\": \"1\", \n\"c\": \n[true, \nnull, \n1.5]}");
}

TEST(FlowTextTest, ReadsBackAsItWas) {
  const std::string text =
      "a: {x: 1, y: [.inf, -.inf, 1e3, 0x10, 0.1, 12345678901234567890]}\n"
      "? " +
      std::string(2000, 'k') +
      "\n: long\n"
      "b: |\n  two\n  lines\n"
      "c: \"\\u0085\\u2028\\u2029\\ufeff\\x7f\\t\\\"\\\\\\u00e9\\U0001f600\"\n"
      "d: ''\n"
      "e: [[], {}]\n";
  const YamlDocument first = ParseYamlDocument(text);
  ASSERT_TRUE(first.problems.empty());
  const std::string flow = FlowText(first.tree.root());
  const YamlDocument second = ParseYamlDocument(flow);
  ASSERT_TRUE(second.problems.empty()) << second.problems[0].message << "\n" << flow;
  EXPECT_EQ(first.tree.root().Hash(), second.tree.root().Hash()) << flow;
  EXPECT_EQ(second.tree.root().Find("e").line(), first.tree.root().Find("e").line());
}

TEST(FlowTextTest, AnItemOfATypedListSaysItsKind) {
  EXPECT_EQ(Flow("{\"apiVersion\": \"v1\"}", "Service"), "{\"kind\": \"Service\", \"apiVersion\": \"v1\"}");
  EXPECT_EQ(Flow("{\"kind\": \"Pod\"}", "Service"), "{\"kind\": \"Pod\"}");
}

}  // namespace
}  // namespace fairlead::config
