#ifndef FAIRLEAD_CONFIG_CHECK_FIXTURE_H_
#define FAIRLEAD_CONFIG_CHECK_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "config/read/no_effect.h"

// For tests of checks: objects as users write them, findings as "severity path (code)", sorted.
namespace fairlead::config {

using Findings = std::vector<std::string>;

inline Findings ToFindings(const std::vector<Diagnostic>& diagnostics) {
  Findings findings;
  for (const Diagnostic& one : diagnostics) {
    findings.push_back(
        StrCat(one.severity == Severity::kError ? "error " : "warning ", one.path, " (", one.code, ")"));
  }
  std::sort(findings.begin(), findings.end());
  findings.erase(std::unique(findings.begin(), findings.end()), findings.end());
  return findings;
}

// What is found in an object of a kind, such as "networking.istio.io/v1 Gateway"; `spec` in YAML's flow
// style.
inline Findings FindingsOf(std::string_view kind, std::string_view spec, std::string_view metadata = "") {
  const size_t space = kind.find(' ');
  const std::string text = StrCat("apiVersion: ", kind.substr(0, space), "\nkind: ", kind.substr(space + 1),
                                  "\nmetadata: {name: a, ", metadata, "}\nspec: ", spec, "\n");
  ParseResult result = ParseManifests(text, "a.yaml");
  // What Istio does not say is tested in no_effect_test.cc.
  std::erase_if(result.diagnostics, [](const Diagnostic& one) { return one.code == kNoEffectCode; });
  EXPECT_EQ(result.objects.size() + result.broken.size(), 1u) << text;
  return ToFindings(result.diagnostics);
}

// A row of a table: what is written in a frame at "%", and what is found.
struct SpecCase {
  std::string_view spec;
  Findings findings;
  std::string_view metadata = "";
};

inline void ExpectFindings(std::string_view kind, std::string_view frame,
                           const std::vector<SpecCase>& cases) {
  const size_t hole = frame.find('%');
  for (const SpecCase& one : cases) {
    const std::string spec = StrCat(frame.substr(0, hole), one.spec, frame.substr(hole + 1));
    EXPECT_THAT(FindingsOf(kind, spec, one.metadata), ::testing::ElementsAreArray(one.findings))
        << kind << " " << spec;
  }
}

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_CHECK_FIXTURE_H_
