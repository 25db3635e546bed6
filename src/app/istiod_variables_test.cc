#include "app/istiod_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "app/environment.h"

namespace fairlead::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IstiodVariablesTest, EachIsInOneTableByName) {
  std::set<std::string_view> names;
  for (const EnvironmentVariable& variable : EnvironmentTable())
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
  std::string_view last;
  for (const IstiodVariable& variable : IstiodVariables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
    EXPECT_LT(last, variable.name);
    EXPECT_FALSE(variable.why.empty()) << variable.name;
    last = variable.name;
  }
}

TEST(IstiodVariablesTest, WhatIsSetAndNotHonouredIsSaid) {
  EXPECT_THAT(
      RemarksOn({"PILOT_ENABLE_AMBIENT=true", "PATH=/bin", "PILOT_XDS_CACHE_SIZE=1",
                 "PILOT_DEBOUNCE_AFTER=1s", "ENABLE_VTPROTOBUF=false", "PILOT_ENABLE_AMBINT=true"}),
      ElementsAre("PILOT_ENABLE_AMBIENT=true is not honoured: there is no ambient mode",
                  "PILOT_ENABLE_AMBINT is set, but neither istiod nor Fairlead has it; did you mean "
                  "PILOT_ENABLE_AMBIENT?",
                  "set, but without a meaning to this version: ENABLE_VTPROTOBUF, PILOT_XDS_CACHE_SIZE"));
}

TEST(IstiodVariablesTest, DefaultsOfIstiodAreNoNews) {
  EXPECT_THAT(RemarksOn({"PILOT_ENABLE_AMBIENT=False", "PILOT_ENABLE_AGENTGATEWAY="}), IsEmpty());
}

}  // namespace
}  // namespace fairlead::app
