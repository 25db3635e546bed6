#include "redirect/program_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::redirect {
namespace {

using testing::HasSubstr;

TEST(RunProgramTest, InputOutputsAndStatus) {
  const RunProgram run = MakeRunner({.variables = {{"GREETING", "hello"}}});
  const ProgramResult result = run({{"sh", "-c", "cat; echo $GREETING; echo bad >&2; exit 3"}, "in\n"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "in\nhello\n");
  EXPECT_EQ(result.error, "bad\n");
}

TEST(RunProgramTest, AProgramThatIsNotThere) {
  const ProgramResult result = MakeRunner()({{"no-such-program-of-ours"}, ""});
  EXPECT_EQ(result.status, ProgramResult::kNotRun);
  EXPECT_THAT(result.error, HasSubstr("no such program"));
}

TEST(RunProgramTest, MuchInputMeetsNobodyWhoReads) {
  EXPECT_TRUE(MakeRunner()({{"true"}, std::string(1 << 20, 'x')}).ok());
}

}  // namespace
}  // namespace fairlead::redirect
