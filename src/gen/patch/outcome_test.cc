#include "gen/patch/outcome.h"

#include <gtest/gtest.h>

#include "base/metrics.h"
#include "gen/patch/patch_fixture.h"

namespace fairlead::gen::patch {
namespace {

double Errors(const std::string& name) {
  return metrics::GetGauge("pilot_envoy_filter_status", "",
                           {{"name", "default/" + name}, {"patch", "cluster"}, {"result", "error"}})
      .Value();
}

// A version of an EnvoyFilter, with its patch.
struct Version {
  explicit Version(const std::string& name)
      : object(MakeEnvoyFilter(name, R"({"applyTo": "CLUSTER", "patch": {"operation": "MERGE",
                                         "value": {"name": "a"}}})")),
        patch(ReadPatches(object).front()) {}
  void Report(bool fails) const {
    PatchOutcome outcome;
    outcome.Note(*patch, true);
    if (fails) outcome.Fail(*patch, "it does not fit");
    outcome.Report();
  }
  config::ConfigPtr object;
  PatchPtr patch;
};

TEST(OutcomeTest, AnErrorEndsWithTheVersionThatHadIt) {
  const Version bad("mended"), good("mended");
  bad.Report(/*fails=*/true);
  EXPECT_EQ(Errors("mended"), 1);
  bad.Report(/*fails=*/false);
  EXPECT_EQ(Errors("mended"), 1) << "it fits another proxy's cluster";
  good.Report(/*fails=*/false);
  EXPECT_EQ(Errors("mended"), 0);
}

TEST(OutcomeTest, AnErrorEndsWhenTheObjectIsGone) {
  {
    const Version bad("gone");
    bad.Report(/*fails=*/true);
    ForgetGoneFailures();
    EXPECT_EQ(Errors("gone"), 1);
  }
  ForgetGoneFailures();
  EXPECT_EQ(Errors("gone"), 0);
}

}  // namespace
}  // namespace fairlead::gen::patch
