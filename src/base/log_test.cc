#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/json.h"
#include "base/log_output.h"
#include "base/strings.h"

namespace fairlead {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

LogScope first("log-test"), second("log-test"), other("log-test-other");

class LogTest : public testing::Test {
 protected:
  LogTest() { std::remove(file_.c_str()); }
  ~LogTest() override {
    EXPECT_TRUE(SetLogOutput({}).ok());
    EXPECT_TRUE(SetLogLevels("default:info,log-test:info").ok());
    SetLogCallers("");
    std::remove(file_.c_str());
  }
  std::string Written() const {
    FlushLogs();
    std::ifstream in(file_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::string file_ = StrCat(testing::TempDir(), "/log-test-", getpid());
};

TEST_F(LogTest, LinesHaveTabsBetweenTheirParts) {
  ASSERT_TRUE(SetLogOutput({.targets = {file_}}).ok());
  first.Warn("{} of {}", 1, 2);
  EXPECT_THAT(Written(), MatchesRegex("[-0-9]+T[:0-9]+\\.[0-9]{6}Z\twarn\tlog-test\t1 of 2\n"));
  SetLogCallers("log-test");
  first.Info("here");
  other.Info("there");
  EXPECT_THAT(Written(), HasSubstr("\tlog-test\tbase/log_test.cc:"));
  EXPECT_THAT(Written(), HasSubstr("\tlog-test-other\tthere\n"));
}

TEST_F(LogTest, LinesMayBeJson) {
  ASSERT_TRUE(SetLogOutput({.as_json = true, .targets = {file_}}).ok());
  first.Error("a \"quoted\"\ntext");
  const auto line = ParseOrderedJson(Written());
  ASSERT_TRUE(line);
  EXPECT_EQ((*line)["level"], "error");
  EXPECT_EQ((*line)["scope"], "log-test");
  EXPECT_EQ((*line)["msg"], "a \"quoted\"\ntext");
  EXPECT_EQ(line->begin().key(), "level");
}

TEST_F(LogTest, WhatIsSaidStaysOnItsLineAndIsCut) {
  ASSERT_TRUE(SetLogOutput({.targets = {file_}}).ok());
  first.Warn("refusing {}", "x\n2026-01-02T15:04:05.123456Z\terror\tca\tforged \x1b[2J\xff");
  first.Warn("{}", std::string(1 << 20, 'a'));
  const std::string written = Written();
  EXPECT_THAT(written,
              HasSubstr("refusing x\\n2026-01-02T15:04:05.123456Z\\terror\\tca\\tforged \\x1b[2J?\n"));
  EXPECT_THAT(written, HasSubstr("… (1048576 bytes)\n"));
  EXPECT_LT(written.size(), 5000u);
}

TEST_F(LogTest, AFileThatCannotBeOpenedChangesNothing) {
  ASSERT_TRUE(SetLogOutput({.targets = {file_}}).ok());
  EXPECT_THAT(std::string(SetLogOutput({.targets = {"stderr", "/nowhere/log"}}).message()),
              HasSubstr("/nowhere/log: No such file or directory"));
  first.Info("still here");
  EXPECT_THAT(Written(), HasSubstr("still here"));
}

TEST_F(LogTest, ScopesOfANameHaveOneLevel) {
  ASSERT_TRUE(SetLogLevels("default:warning,log-test:debug").ok()) << "as Envoy spells it";
  ASSERT_TRUE(SetLogLevels("warn,log-test:debug").ok());
  EXPECT_TRUE(first.Enabled(LogLevel::kDebug));
  EXPECT_TRUE(second.Enabled(LogLevel::kDebug));
  EXPECT_FALSE(other.Enabled(LogLevel::kInfo));
  EXPECT_TRUE(SetLogScope({"log-test", LogLevel::kNone, false}));
  EXPECT_FALSE(second.Enabled(LogLevel::kError));
  EXPECT_FALSE(SetLogScope({"no-such-scope", LogLevel::kInfo, false}));
}

TEST_F(LogTest, WhatCannotBeReadIsNamedWithWhatALevelMayBe) {
  const absl::Status status = SetLogLevels("log-test:debug,ads:loud");
  EXPECT_EQ(
      FromAbsl(status.message()),
      "log level \"ads:loud\" is not SCOPE:LEVEL or LEVEL; a level is debug, info, warn, error or none");
  EXPECT_FALSE(first.Enabled(LogLevel::kDebug)) << "nothing is changed";
  EXPECT_THAT(UnknownLogScopes("warn,default:info,log-test:info,nothing:info"), ElementsAre("nothing"));
  EXPECT_THAT(UnknownLogScopes("all,log-test,nothing"), ElementsAre("nothing"));
}

TEST_F(LogTest, TakingOneScopeOutOfAllLeavesTheOthers) {
  SetLogCallers("all");
  EXPECT_TRUE(SetLogScope({"log-test", LogLevel::kInfo, false}));
  EXPECT_FALSE(first.names_callers());
  EXPECT_TRUE(other.names_callers());
}

}  // namespace
}  // namespace fairlead
