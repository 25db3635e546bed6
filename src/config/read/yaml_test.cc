#include "config/read/yaml.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "config/read/yaml_scalar.h"

namespace fairlead::config {
namespace {

// "s:abc i:1 [..] {k: v}": the tree with the scalars' types, for comparing.
std::string Show(Node node) {
  std::string text;
  switch (node.type()) {
    case NodeType::kNull:
      return "null";
    case NodeType::kBool:
      return StrCat("b:", node.text());
    case NodeType::kInt:
      return StrCat("i:", node.text());
    case NodeType::kFloat:
      return StrCat("f:", node.text());
    case NodeType::kString:
      return StrCat("s:", node.text());
    case NodeType::kSequence:
      for (Node element : node.elements()) StrAppend(&text, text.empty() ? "" : ", ", Show(element));
      return StrCat("[", text, "]");
    case NodeType::kMapping:
      for (const Node::Entry& entry : node.entries()) {
        StrAppend(&text, text.empty() ? "" : ", ", entry.key, ": ", Show(entry.value));
      }
      return StrCat("{", text, "}");
  }
  return text;
}

std::string ShowOne(std::string_view text) {
  const YamlDocument document = ParseYamlDocument(text);
  if (!document.problems.empty())
    return StrCat("problem ", document.problems[0].code, " ", document.problems[0].path);
  return Show(document.tree.root());
}

// Every document of a text: "{…}", or "broken LINE".
std::vector<std::string> ShowAll(std::string_view text) {
  std::vector<std::string> shown;
  YamlStream stream(text);
  for (;;) {
    switch (stream.Next()) {
      case YamlStream::Step::kDocument:
        shown.push_back(Show(stream.root()));
        break;
      case YamlStream::Step::kBroken:
        shown.push_back(StrCat("broken ", stream.problems().at(0).line));
        break;
      case YamlStream::Step::kEnd:
        return shown;
    }
  }
}

TEST(YamlScalarTest, ReadsPlainScalarsAsYaml11) {
  std::string storage;
  const auto show = [&](std::string_view text) {
    const ScalarMeaning meaning = ResolvePlainScalar(text, storage);
    return StrCat(NameOf(meaning.type), " ", meaning.text);
  };
  for (std::string_view yes : {"true", "True", "TRUE", "yes", "Yes", "on", "ON", "y", "Y"})
    EXPECT_EQ(show(yes), "boolean true");
  for (std::string_view no : {"false", "False", "no", "NO", "off", "Off", "n", "N"})
    EXPECT_EQ(show(no), "boolean false");
  for (std::string_view null : {"", "~", "null", "Null", "NULL"}) EXPECT_EQ(show(null), "null ");
  EXPECT_EQ(show("tRUE"), "string tRUE");
  EXPECT_EQ(show("nULL"), "string nULL");
  EXPECT_EQ(show("8080"), "integer 8080");
  EXPECT_EQ(show("-1"), "integer -1");
  EXPECT_EQ(show("+7"), "integer 7");
  EXPECT_EQ(show("-0"), "integer 0");
  EXPECT_EQ(show("0x1F"), "integer 31");
  EXPECT_EQ(show("0777"), "integer 511");
  EXPECT_EQ(show("0o17"), "integer 15");
  EXPECT_EQ(show("0b101"), "integer 5");
  EXPECT_EQ(show("-0b101"), "integer -5");
  EXPECT_EQ(show("1_000"), "integer 1000");
  EXPECT_EQ(show("08"), "number 08");
  EXPECT_EQ(show("9223372036854775807"), "integer 9223372036854775807");
  EXPECT_EQ(show("18446744073709551615"), "integer 18446744073709551615");
  EXPECT_EQ(show("18446744073709551616"), "number 18446744073709551616");
  EXPECT_EQ(show("-9223372036854775808"), "integer -9223372036854775808");
  EXPECT_EQ(show("1.5"), "number 1.5");
  EXPECT_EQ(show("1e3"), "number 1e3");
  EXPECT_EQ(show(".5"), "number .5");
  EXPECT_EQ(show("1."), "number 1.");
  EXPECT_EQ(show("-.inf"), "number -.inf");
  EXPECT_EQ(show(".NaN"), "number .nan");
  for (std::string_view text : {"10.0.0.1", "1e400", "2001-12-14", "1h30m", "0x", "1e", "-", ".", "1:30",
                                "v1", "_1", "0b2", "::1", "--"}) {
    EXPECT_EQ(show(text), StrCat("string ", text));
  }
}

TEST(YamlTest, KeepsQuotedScalarsStrings) {
  EXPECT_EQ(ShowOne("a: 'yes'\nb: \"8080\"\nc: ''\nd: !!str 5\ne: |\n  5\n"),
            "{a: s:yes, b: s:8080, c: s:, d: s:5, e: s:5\n}");
}

TEST(YamlTest, HonoursTags) {
  EXPECT_EQ(ShowOne("{a: !!int '7', b: !!float 7, c: !!bool 'on', d: !own x, e: !!binary YQ==}"),
            "{a: i:7, b: f:7, c: b:true, d: s:x, e: s:a}");
  EXPECT_EQ(ShowOne("a: !!int seven"), "problem wrong-tag a");
}

TEST(YamlTest, ReadsJson) {
  EXPECT_EQ(ShowOne(R"({"a": [1, 2.5, true, null, "x\ny\u00e4"], "b": {}})"),
            "{a: [i:1, f:2.5, b:true, null, s:x\nyä], b: {}}");
}

TEST(YamlTest, MakesKeysStrings) {
  EXPECT_EQ(ShowOne("{8080: a, on: b, 0x10: c, 1.50: d}"), "{8080: s:a, true: s:b, 16: s:c, 1.5: s:d}");
  EXPECT_EQ(ShowOne("? [a]\n: b\n"), "problem unsupported-key ");
  EXPECT_EQ(ShowOne("x:\n  ~: b\n"), "problem unsupported-key x");
}

TEST(YamlTest, FirstOfDuplicateKeysCounts) {
  const YamlDocument document =
      ParseYamlDocument("spec:\n  ports:\n  - port: 1\n    name: a\n    port: {x: [1, 2]}\n  z: 1\n");
  EXPECT_EQ(Show(document.tree.root()), "{spec: {ports: [{port: i:1, name: s:a}], z: i:1}}");
  ASSERT_EQ(document.problems.size(), 1u);
  EXPECT_EQ(document.problems[0].code, "duplicate-key");
  EXPECT_EQ(document.problems[0].line, 5);
  EXPECT_EQ(document.problems[0].path, "spec.ports[0].port");
}

TEST(YamlTest, FindsDuplicateKeysInLargeMappings) {
  std::string text;
  for (int i = 0; i < 100; ++i) StrAppend(&text, "key", i, ": ", i, "\n");
  EXPECT_TRUE(ParseYamlDocument(text).problems.empty());
  for (int duplicate : {0, 5, 50, 99}) {
    const YamlDocument document = ParseYamlDocument(StrCat(text, "key", duplicate, ": x\n"));
    ASSERT_EQ(document.problems.size(), 1u);
    EXPECT_EQ(document.problems[0].line, 101);
    EXPECT_EQ(document.tree.root().size(), 100u);
  }
}

TEST(YamlTest, ExpandsAliases) {
  EXPECT_EQ(ShowOne("a: &x {b: [1]}\nc: *x\nd: &y 5\ne: [*y, *x]\n"),
            "{a: {b: [i:1]}, c: {b: [i:1]}, d: i:5, e: [i:5, {b: [i:1]}]}");
  EXPECT_EQ(ShowOne("a: *x\n"), "problem unknown-anchor a");
  EXPECT_EQ(ShowOne("a: &x [*x]\n"), "problem recursive-anchor a[0]");
}

TEST(YamlTest, AnchorsEndWithTheirDocument) {
  EXPECT_EQ(ShowAll("a: &x 1\n---\nb: *x\n"), (std::vector<std::string>{"{a: i:1}", "broken 3"}));
}

TEST(YamlTest, MergesMappings) {
  EXPECT_EQ(ShowOne("a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n  r: 4\n"),
            "{a: {p: i:1, q: i:2}, b: {q: i:3, r: i:4, p: i:1}}");
  EXPECT_EQ(ShowOne("a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc: {<<: [*x, *y], r: 0}\n"),
            "{a: {p: i:1}, b: {p: i:2, q: i:2}, c: {r: i:0, p: i:1, q: i:2}}");
  EXPECT_EQ(ShowOne("a: {<<: {p: {q: 1}}, r: &z 7}\nb: *z\n"), "{a: {r: i:7, p: {q: i:1}}, b: i:7}");
  EXPECT_EQ(ShowOne("a: {<<: 5}\n"), "problem wrong-merge a");
  EXPECT_EQ(ShowOne("a: {'<<': 5}\n"), "{a: {<<: i:5}}");
}

TEST(YamlTest, BoundsAliasesAndNesting) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    StrAppend(&laughs, "a", i, ": &a", i, " [");
    for (int j = 0; j < 10; ++j) StrAppend(&laughs, j ? ", " : "", "*a", i - 1);
    laughs += "]\n";
  }
  EXPECT_TRUE(ShowOne(laughs).starts_with("problem excessive-aliases"));
  EXPECT_TRUE(ShowOne(std::string(300, '[') + std::string(300, ']')).starts_with("problem too-deep"));
}

TEST(YamlTest, SplitsDocumentsAndPassesEmptyOnesOver) {
  EXPECT_EQ(ShowAll("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n...\n---\n~\n"),
            (std::vector<std::string>{"{a: i:1}", "{b: i:2}"}));
  EXPECT_EQ(ShowAll(""), std::vector<std::string>{});
  EXPECT_EQ(ShowAll("{\"a\": 1}"), std::vector<std::string>{"{a: i:1}"});
}

TEST(YamlTest, ABrokenDocumentCostsItselfAlone) {
  const std::vector<std::string> expected = {"{a: i:1}", "broken 5", "{c: i:3}"};
  EXPECT_EQ(ShowAll("a: 1\n---\nb: [1, 2,\n\n---\nc: 3\n"), expected);
  EXPECT_EQ(ShowAll("a: 1\n---\nb: 'open\nx: 1\n---\nc: 3\n"), expected);
  EXPECT_EQ(ShowAll("a: 1\n---\nb: {\n\n--- \nc: 3\n"), expected);
}

TEST(YamlTest, ABrokenDocumentMayBeFirstOrLast) {
  EXPECT_EQ(ShowAll("\tb: 1\n---\nc: 3\n").back(), "{c: i:3}");
  EXPECT_EQ(ShowAll("---\na: 1\n---\n@\n"), (std::vector<std::string>{"{a: i:1}", "broken 4"}));
  EXPECT_EQ(ShowAll("a: 1\n---\n@\n---\n%\n---\nc: 3"),
            (std::vector<std::string>{"{a: i:1}", "broken 3", "broken 5", "{c: i:3}"}));
}

TEST(YamlTest, SaysWhereBytesAreNoText) {
  EXPECT_EQ(ShowAll("a: 1\n---\nb: 2\nc: \xff\n---\nd: 4\n"),
            (std::vector<std::string>{"{a: i:1}", "broken 4", "{d: i:4}"}));
}

TEST(YamlTest, KnowsLines) {
  const YamlDocument document = ParseYamlDocument("# comment\na: 1\nb:\n- x\n-\n  c: |\n    text\n");
  const Node root = document.tree.root();
  EXPECT_EQ(root.line(), 2);
  EXPECT_EQ(root.Find("b").At(0).line(), 4);
  EXPECT_EQ(root.Find("b").At(1).Find("c").line(), 6);
}

// What the parser says of a text that is no YAML.
std::string ProblemOf(std::string_view text) {
  const YamlDocument document = ParseYamlDocument(text);
  return document.problems.empty() ? "" : document.problems[0].message;
}

TEST(YamlTest, TemplatesAreToBeRenderedFirst) {
  const std::string hint = "; a Go template? render it first, as with `helm template`";
  for (const char* text : {"kind: Service\nmetadata:\n  name: {{ .Values.name }}\n",
                           "kind: Service\n{{- if .Values.on }}\nspec: {}\n{{- end }}\n",
                           "kind: Service\nmetadata:\n  name: {{ .Release.Name }}-web\n  namespace: x\n"})
    EXPECT_TRUE(ProblemOf(text).ends_with(hint)) << text << ProblemOf(text);
  EXPECT_EQ(ProblemOf("name: '{{ .Values.name }}'\n"), "");
}

TEST(YamlTest, TabsAreNamed) {
  const std::string hint = "; it begins with a tab: YAML is indented with spaces";
  for (const char* text : {"a:\n\tb: 1\n", "a:\n  b: 1\n\tc: 2\n"})
    EXPECT_TRUE(ProblemOf(text).ends_with(hint)) << text << ProblemOf(text);
  EXPECT_EQ(ProblemOf("a: |\n  x\n  \ty\n"), "");
}

TEST(TreeTest, AbsentNodesAnswerEverything) {
  const Node absent = Node().Find("a").At(3).Find("b");
  EXPECT_FALSE(absent);
  EXPECT_TRUE(absent.IsNull());
  EXPECT_EQ(absent.String("x"), "x");
  EXPECT_EQ(absent.size(), 0u);
  EXPECT_EQ(absent.line(), 0);
  for (Node element : absent.elements()) FAIL() << element.line();
}

TEST(TreeTest, IntegersMayBeWrittenAsFloats) {
  const YamlDocument document = ParseYamlDocument("[1e3, 2.0, 2.5, 1e300, -1, '5']");
  const Node root = document.tree.root();
  EXPECT_EQ(root.At(0).Int(), 1000);
  EXPECT_EQ(root.At(1).Unsigned(), 2u);
  EXPECT_EQ(root.At(2).Int(), std::nullopt);
  EXPECT_EQ(root.At(3).Int(), std::nullopt);
  EXPECT_EQ(root.At(4).Unsigned(), std::nullopt);
  EXPECT_EQ(root.At(5).Int(), std::nullopt);
}

TEST(TreeTest, HashIgnoresOrderOfKeysAndPositions) {
  const auto hash = [](std::string_view text) { return ParseYamlDocument(text).tree.root().Hash(); };
  EXPECT_EQ(hash("{a: 1, b: [x, {c: 2, d: 3}]}"), hash("# text\nb:\n- x\n- d: 3\n  c: 0x2\na: 1\n"));
  EXPECT_NE(hash("{a: 1}"), hash("{a: '1'}"));
  EXPECT_NE(hash("[a, b]"), hash("[b, a]"));
  EXPECT_NE(hash("{a: {b: 1}, c: 2}"), hash("{a: {b: 2}, c: 1}"));
  EXPECT_NE(hash("{a: []}"), hash("{a: {}}"));
  EXPECT_NE(hash("[[a], b]"), hash("[[a, b]]"));
}

TEST(TreeTest, HashIsTheSameEverywhere) {
  EXPECT_EQ(ToHex(ParseYamlDocument("{a: 1, b: [x, true]}").tree.root().Hash()),
            "baae687b6ff03790daf0b8551cb5baab");
}

}  // namespace
}  // namespace fairlead::config
