#include "push/publish/diagnostic_log.h"

#include <gmock/gmock.h>

#include <memory>

#include "base/metrics.h"
#include "base/strings.h"

namespace fairlead::push {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

config::Diagnostic Wrong(const std::string& message, config::Severity severity = config::Severity::kError) {
  config::Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.message = message;
  return diagnostic;
}

DiagnosticList ListOf(const std::vector<std::string>& messages) {
  std::vector<config::Diagnostic> all;
  for (const std::string& message : messages) all.push_back(Wrong(message));
  return std::make_shared<const std::vector<config::Diagnostic>>(std::move(all));
}

class DiagnosticLogTest : public testing::Test {
 protected:
  std::vector<std::string> Current() {
    std::vector<std::string> messages;
    for (const config::Diagnostic& one : *log_.Current()) messages.push_back(one.message);
    return messages;
  }
  static double Counted(const char* severity) {
    return metrics::GetGauge("fairlead_diagnostics", "", {{"severity", severity}}).Value();
  }
  DiagnosticLog log_;
};

TEST_F(DiagnosticLogTest, AnAccountsListIsInPlaceOfTheOneBefore) {
  log_.Set("a", ListOf({"1", "2", "3"}));
  log_.Set("b", ListOf({"4"}));
  EXPECT_THAT(Current(), IsEmpty()) << "nothing is told yet";
  log_.Tell();
  EXPECT_THAT(Current(), ElementsAre("1", "2", "3", "4"));
  log_.Set("a", ListOf({"1", "5", "3"}));
  log_.Tell();
  EXPECT_THAT(Current(), ElementsAre("1", "3", "4", "5"));
  EXPECT_EQ(Counted("error"), 4);
  log_.Set("a", ListOf({}));
  log_.Tell();
  EXPECT_THAT(Current(), ElementsAre("4"));
  EXPECT_EQ(Counted("error"), 1);
}

TEST_F(DiagnosticLogTest, WhatSeveralAccountsSayIsOneThing) {
  log_.Set("a", ListOf({"1"}));
  log_.Set("b", ListOf({"1", "1"}));
  log_.Tell();
  EXPECT_THAT(Current(), ElementsAre("1"));
  EXPECT_EQ(Counted("error"), 1);
  log_.Set("b", ListOf({}));
  log_.Tell();
  EXPECT_THAT(Current(), ElementsAre("1"));
  log_.Set("a", ListOf({}));
  log_.Tell();
  EXPECT_THAT(Current(), IsEmpty());
  EXPECT_EQ(Counted("error"), 0);
}

TEST_F(DiagnosticLogTest, DetailsMayChangeAsLongAsTheThingIsWrong) {
  config::Diagnostic wrong = Wrong("1", config::Severity::kWarning);
  wrong.details = "since yesterday";
  log_.Set("a", std::make_shared<const std::vector<config::Diagnostic>>(1, wrong));
  log_.Tell();
  wrong.details = "since today";
  log_.Set("a", std::make_shared<const std::vector<config::Diagnostic>>(1, wrong));
  log_.Tell();
  ASSERT_EQ(log_.Current()->size(), 1u);
  EXPECT_EQ(log_.Current()->front().details, "since today");
  EXPECT_EQ(Counted("warning"), 1);
}

TEST_F(DiagnosticLogTest, TheSameListStaysTheSameAnswer) {
  const DiagnosticList list = ListOf({"1"});
  log_.Set("a", list);
  log_.Tell();
  const DiagnosticList current = log_.Current();
  log_.Set("a", list);
  log_.Tell();
  EXPECT_EQ(log_.Current(), current);
}

}  // namespace
}  // namespace fairlead::push
