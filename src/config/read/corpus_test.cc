#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "config/read/manifests.h"
#include "config/read/no_effect.h"

// Every input of the conformance cases is read and admitted; what Istio warns about is known.
namespace fairlead::config {
namespace {

const std::set<std::string_view> kWarnings = {"denies-tcp",  "deprecated",  "no-effect",
                                              "private-key", "unreachable", "unstable"};

// A remark that holds unless istiod's variable for InferencePools is set, as it is in the cases that have
// some.
bool IsOfTheDefaults(const Diagnostic& one) {
  return one.code == kNoEffectCode && one.object && one.object->kind == Kind::kInferencePool;
}

TEST(CorpusTest, IsAdmitted) {
  size_t files = 0, objects = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/conformance")) {
    if (entry.path().filename() != "input.yaml") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const ParseResult result = ParseManifests(text.str(), entry.path().string());
    for (const Diagnostic& diagnostic : result.diagnostics) {
      if (IsOfTheDefaults(diagnostic)) continue;
      if (diagnostic.severity == Severity::kError || !kWarnings.contains(diagnostic.code))
        ADD_FAILURE() << ToText(diagnostic);
    }
    ++files;
    objects += result.objects.size();
  }
  EXPECT_GT(files, 50u);
  EXPECT_GT(objects, files);
}

}  // namespace
}  // namespace fairlead::config
