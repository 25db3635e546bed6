#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"

// That 100 kB of anything are read or refused in no time: whoever may write one file of a mesh must not stop
// the reading of the others.
namespace fairlead::config {
namespace {

constexpr size_t kSize = 100'000;
// Of processor time. A release takes less than half a second; this is for builds without optimisation and
// with sanitizers.
constexpr double kMostSeconds = 5;

std::string Repeat(std::string_view text, size_t size = kSize) {
  std::string all;
  while (all.size() + text.size() <= size) all += text;
  return all;
}

std::string Numbered(std::string_view before, std::string_view after, size_t size = kSize) {
  std::string all;
  for (size_t i = 1; all.size() + before.size() + after.size() + 6 <= size; ++i)
    StrAppend(&all, before, i, after);
  return all;
}

constexpr char kServiceEntry[] =
    "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: e, namespace: a}\n"
    "spec:\n  hosts: [e.com]\n  resolution: STATIC\n";
constexpr char kRoute[] =
    "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: v, namespace: a}\n"
    "spec:\n  hosts: [e.com]\n";

std::vector<std::pair<std::string, std::string>> Bombs() {
  return {
      {"lists in lists", Repeat("[")},
      {"mappings in mappings", Repeat("{\"a\":")},
      {"lists in blocks", Repeat("- ")},
      {"keys that are asked for", Repeat("? ")},
      {"deep, closed again", StrCat(Repeat("[", kSize / 2), Repeat("]", kSize / 2))},
      {"a deep document of many", Repeat(StrCat("---\n", Repeat("[", 1000), "\n"))},
      {"broken documents", Repeat("---\n[\n")},
      {"documents without a kind", Repeat("---\na: b\n")},
      {"policies that are no YAML", Repeat("---\nkind: AuthorizationPolicy\n[\n")},
      {"ports",
       StrCat(kServiceEntry, "  ports:\n", Numbered("  - {number: ", ", name: p, protocol: TCP}\n"))},
      {"short ports", StrCat(kServiceEntry, "  ports:\n", Numbered("  - {number: ", "}\n"))},
      {"entries with as many ports as may be",
       Repeat(StrCat("---\n", kServiceEntry, "  ports:\n", Numbered("  - {number: ", ", name: p}\n", 8000)))},
      {"keys twice beside anchors",
       StrCat("x:\n", Numbered("  a", ": &n 1\n", kSize / 2), Repeat("  k: 1\n", kSize / 2))},
      {"anchors", StrCat("x:\n", Numbered("  a: &n", " 1\n"))},
      {"anchors beside merges", StrCat("b: &b {x: 1}\n", Numbered("a", ": &n {<<: *b}\n"))},
      {"merges", StrCat("b: &b {x: 1}\nc:\n", Repeat("  <<: *b\n"))},
      {"merges between keys", StrCat("b: &b {x: 1}\nc:\n", Numbered("  <<: *b\n  k", ": 1\n"))},
      {"aliases of aliases, often",
       Repeat("---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
              "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
              "e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n")},
      {"aliases of mistakes",
       StrCat(kRoute, "  http: [&a {", Numbered("x", ": 1, ", 2000), "}", Repeat(",*a", kSize), "]\n")},
      {"unknown fields", StrCat(kRoute, Numbered("  htp", ": 1\n"))},
      {"unknown fields in a list", StrCat(kRoute, "  http:\n", Repeat("  - {a: 1}\n"))},
      {"routes", StrCat(kRoute, "  http:\n", Repeat("  - {route: [{destination: {host: a}}]}\n"))},
      {"matches", StrCat(kRoute, "  http:\n  - route: [{destination: {host: a}}]\n    match:\n",
                         Numbered("    - {uri: {prefix: /a", "}}\n"))},
      {"hosts", StrCat(kRoute, "  - x.y\n  hosts:\n", Numbered("  - a", ".b\n"))},
      {"a regular expression",
       StrCat(kRoute, "  http: [{match: [{uri: {regex: '", Repeat("("), Repeat(")"), "'}}]}]\n")},
      {"tags", StrCat(Numbered("%TAG !a", "! b\n"), "--- a\n")},
      {"objects", Numbered("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c", "}\n")},
      {"one object again and again", Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")},
      {"labels", StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  labels:\n",
                        Numbered("    a", ": b\n"))},
      {"a text", StrCat("a: \"", Repeat("\\u263a"), "\"\n")},
      {"no text", std::string(kSize, '\1')},
      {"tabs", Repeat("\t")},
      {"comments", Repeat("#\n")},
  };
}

TEST(BoundedTest, AHundredKilobytesOfAnything) {
  for (const auto& [name, text] : Bombs()) {
    const std::clock_t before = std::clock();
    const ParseResult result = ParseManifests(text, "bomb.yaml");
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    RecordProperty(name, std::to_string(seconds));
    EXPECT_LT(seconds, kMostSeconds) << name;
    if (seconds > kMostSeconds / 10) std::cout << name << ": " << seconds << " s\n";
    EXPECT_LT(result.diagnostics.size(), 30'000u) << name;
  }
}

TEST(BoundedTest, OfOneObjectsMistakesTheFirstAreKept) {
  const ParseResult result = ParseManifests(StrCat(kRoute, Numbered("  htp", ": 1\n")), "f");
  ASSERT_EQ(result.diagnostics.size(), Report::kMostMistakes + 1);
  EXPECT_EQ(result.diagnostics.back().code, "too-many-mistakes");
  EXPECT_EQ(result.broken.size(), 1u);
}

}  // namespace
}  // namespace fairlead::config
