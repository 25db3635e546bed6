#include "proto/library_log.h"

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include "base/log_output.h"

namespace fairlead::proto {
namespace {

TEST(LibraryLog, TextsThatAreNotUtf8AreNoLinesOfItsOwn) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  ASSERT_TRUE(SetLogOutput({.as_json = true}).ok());
  LogWhatTheLibrarySays();
  google::protobuf::Value value;
  for (int i = 0; i < 1000; ++i) value.ParseFromString("\x1a\x02\xff\xfe");
  FlushLogs();
  const std::string written = testing::internal::GetCapturedStdout();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(written, testing::HasSubstr("\"scope\":\"protobuf\""));
  EXPECT_LT(written.size(), 10'000u) << "at a rate";
  ASSERT_TRUE(SetLogOutput({}).ok());
}

}  // namespace
}  // namespace fairlead::proto
